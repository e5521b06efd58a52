#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranks that die, sleep, leave or make a different call: the others report it in time, and nothing is left behind.

Usage: failures.py PROGRAM [CLASS...], with the program of failing.cpp. Skipped (77) if there is no launcher.
CHORALE_TEST_DEVICE: as CHORALE_DEVICE (default soft0); CHORALE_TEST_SLOWNESS: factor for all times (1);
CHORALE_TEST_BUDGET: share of the kill tests to run, chosen by the seed (1).
"""
import itertools
import os
import pathlib
import random
import re
import shutil
import sys
import tempfile
import time
import unittest

import launch

SLOWNESS = float(os.environ.get("CHORALE_TEST_SLOWNESS", "1"))
BUDGET = float(os.environ.get("CHORALE_TEST_BUDGET", "1"))
DEVICE = os.environ.get("CHORALE_TEST_DEVICE", "soft0")
DEADLINE = 5.0 * SLOWNESS
# For cases in which only the deadline detects the failure, so that its length is the duration of the test.
SHORT = 2.0 * SLOWNESS
LIMIT = 150 * SLOWNESS


class Rank:
    """What one rank recorded."""

    def __init__(self, path):
        self.pid = int(path.name)
        lines = path.read_text(encoding="utf-8").splitlines()
        self.number = int(lines[0].split()[1])
        self.notes = [line for line in lines[1:] if not line.startswith("failure\t")]
        self.failures = [Failure(*line.split("\t")[1:]) for line in lines if line.startswith("failure\t")]

    def __str__(self):
        return f"rank {self.number}: {self.notes} " + " | ".join(str(failure) for failure in self.failures)


class Failure:
    """One exception."""

    def __init__(self, code, ranks, age, text):
        self.code, self.ranks, self.seconds, self.text = code, [int(r) for r in ranks.split()], int(age) / 1000, text

    def __str__(self):
        return f"[{self.code} {self.ranks} {self.seconds} s: {self.text}]"


def alive(pid):
    """Whether the process is running; a zombie is not."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


class Case(unittest.TestCase):
    """Runs the program, and checks what it leaves behind."""

    fabrics = itertools.count()

    def run_ranks(self, ranks, *words, deadline=DEADLINE, transport="rc", launcher=None, before=(), env=None):
        """Runs the program. Returns its ranks by number."""
        fabric = f"test-{os.getpid()}-{next(self.fabrics)}"
        variables = dict(os.environ, CHORALE_DEVICE=DEVICE, CHORALE_SOFT_FABRIC=fabric,
                         CHORALE_DEADLINE_MS=str(int(deadline * 1000)), CHORALE_TEST_TRANSPORT=transport,
                         CHORALE_TEST_SEED=str(SEEDS.randrange(1 << 30)))
        variables.update(env or {})
        shared = set(os.listdir("/dev/shm"))
        with tempfile.TemporaryDirectory() as folder:
            program = [PROGRAM, folder, *map(str, words)]
            if launcher is None:
                # Otherwise the launcher would end the survivors before they have reported anything.
                command = [*launch.mpirun(), "--enable-recovery", "-n", str(ranks), *before, *program]
            else:
                command = [*launcher, *program]
            status, output = launch.run(command, LIMIT, variables)
            found = sorted((Rank(path) for path in pathlib.Path(folder).iterdir()), key=lambda rank: rank.number)
        self.output = output
        self.story = "\n".join([" ".join(command), output, *map(str, found)])
        self.assertNotEqual(status, 124, f"hangs:\n{self.story}")
        self.check_nothing_left(found, fabric, shared)
        return found

    def check_nothing_left(self, found, fabric, shared):
        """Checks that no process, shared memory or socket of this run is left."""
        give_up = time.monotonic() + 10
        while any(alive(rank.pid) for rank in found) and time.monotonic() < give_up:
            time.sleep(0.05)
        self.assertEqual([rank.pid for rank in found if alive(rank.pid)], [], f"still run:\n{self.story}")
        left = [name for name in set(os.listdir("/dev/shm")) - shared if "chorale" in name]
        self.assertEqual(left, [], f"in /dev/shm:\n{self.story}")
        sockets = [line for line in pathlib.Path("/proc/net/unix").read_text(encoding="utf-8").splitlines()
                   if "@chorale" in line and fabric in line]
        self.assertEqual(sockets, [], f"sockets:\n{self.story}")

    def check_survivors(self, found, ranks, victim, codes, words=(), within=None):
        """Checks that every other rank failed with one of the codes, named the victim, and was poisoned afterwards."""
        self.assertEqual([rank.number for rank in found], list(range(ranks)), self.story)
        for rank in found:
            if rank.number == victim:
                continue
            self.assertEqual(len(rank.failures), 3, f"rank {rank.number}:\n{self.story}")
            first, *later = rank.failures
            self.assertIn(first.code, codes, self.story)
            self.assertTrue(victim in first.ranks or f"rank {victim} " in first.text, f"{rank}\n{self.story}")
            for word in words:
                self.assertIn(word, first.text, self.story)
            for failure in later:
                self.assertEqual(failure.code, "poisoned", self.story)
            if within is not None:
                self.assertLess(first.seconds, within, f"too late:\n{self.story}")
            self.assertEqual(rank.notes[-1], "end", self.story)


class Killed(Case):
    """SIGKILL of one rank: the root of the trees, a leaf, or an inner rank."""

    codes = ("peer_lost", "deadline")

    victims = (0, 2, 4)

    def check_kill(self, transport, deadline, scenario, operation, victim):
        with self.subTest(scenario=scenario, operation=operation, victim=victim, transport=transport):
            found = self.run_ranks(5, scenario, victim, operation, transport=transport, deadline=deadline)
            # The time includes starting and ending the processes.
            self.check_survivors(found, 5, victim, self.codes, within=deadline + 15 * SLOWNESS)

    def check_kills(self, transport, deadline):
        cases = [(scenario, operation, victim)
                 for scenario, operation in [("kill", "barrier"), ("kill", "broadcast"), ("kill", "allreduce"),
                                             ("kill", "nonblocking"), ("kill", "plan"), ("kill-first", "barrier"),
                                             ("kill-first", "allreduce")]
                 for victim in self.victims]
        if BUDGET < 1:
            cases = SEEDS.sample(cases, max(1, round(BUDGET * len(cases))))
        for case in cases:
            self.check_kill(transport, deadline, *case)

    def test_rc(self):
        self.check_kills("rc", DEADLINE)
        # In the middle of a rendezvous, and of writes into each other's collective buffers.
        for transport in "rc_send_receive", "collected":
            self.check_kill(transport, DEADLINE, "kill-among-blocks", "", SEEDS.choice(self.victims))

    def test_long_calls(self):
        """A rank is killed while it reads or writes a peer's memory: calls fail, or have the right result, which the ranks check."""
        for block, env in [(2501, {}), (25013, {}), (140001, {}), (25013, {"CHORALE_SOFT_COPY": "bounce"}),
                           (140001, {"CHORALE_SOFT_ENGINE": "deferred"})]:
            victim = SEEDS.choice(self.victims)
            with self.subTest(block=block, env=env, victim=victim):
                found = self.run_ranks(5, "kill-among-long-calls", victim, block, env=env)
                self.check_survivors(found, 5, victim, self.codes, within=DEADLINE + 15 * SLOWNESS)

    def test_ud(self):
        self.check_kills("ud", SHORT)


class Datagrams(Case):
    """On transports that retransmit, a rank tells a lost datagram from a peer that is dead, is stopped or has left."""

    adversary = {"CHORALE_SOFT_ENGINE": "deferred", "CHORALE_SOFT_LOSS": "10", "CHORALE_SOFT_DUPLICATION": "2"}

    def check(self, transport, scenario, operation, victim, codes, words=(), env=None, deadline=SHORT):
        seed = SEEDS.randrange(1 << 30)
        with self.subTest(transport=transport, scenario=scenario, operation=operation, victim=victim, env=env, seed=seed):
            found = self.run_ranks(5, scenario, victim, operation, transport=transport, deadline=deadline,
                                   env={**(env or {}), "CHORALE_SOFT_SEED": str(seed)})
            self.check_survivors(found, 5, victim, codes, words, within=deadline + 15 * SLOWNESS)

    def check_ends(self, transport):
        """A rank is killed, is stopped or leaves, with and without losses."""
        self.check(transport, "kill", "allreduce", 2, ["peer_lost", "deadline"])
        self.check(transport, "kill", "nonblocking", 4, ["peer_lost", "deadline"], env=self.adversary)
        self.check(transport, "kill", "plan", 1, ["peer_lost", "deadline"], env=self.adversary)
        self.check(transport, "kill-first", "barrier", 0, ["peer_lost", "deadline"])
        self.check(transport, "leave", "allreduce", 2, ["peer_lost"], ["has left"], deadline=DEADLINE)

    def test_ud_rdma(self):
        self.check_ends("ud_rdma")

    def test_hybrid(self):
        self.check_ends("hybrid")


class Silent(Case):
    """A rank that is alive and never makes the call."""

    def test_never_calls(self):
        for transport, operation in ("rc", "barrier"), ("ud", "allreduce"), ("rc", "nonblocking"), ("rc", "plan"), ("ud", "broadcast"):
            with self.subTest(transport=transport, operation=operation):
                found = self.run_ranks(4, "never", 1, operation, transport=transport, deadline=SHORT)
                self.check_survivors(found, 4, 1, ["deadline"], ["CHORALE_DEADLINE_MS", "rank 1 computes"])

    def test_leaves_early(self):
        for transport, operation in ("rc", "barrier"), ("ud", "allreduce"), ("rc", "nonblocking"), ("rc", "plan"), ("ud", "broadcast"):
            with self.subTest(transport=transport, operation=operation):
                found = self.run_ranks(4, "leave", 2, operation, transport=transport)
                self.check_survivors(found, 4, 2, ["peer_lost"], ["has left"])


class Away(Case):
    """A rank that is alive but makes no calls: the others wait and report that; a death in the meantime is noticed."""

    adversary = Datagrams.adversary
    operations = ("barrier", "allreduce", "split", "fence")

    def check_away(self, transport, scenario, operation, victim, words, env=None, absence=2500):
        with self.subTest(transport=transport, scenario=scenario, operation=operation, victim=victim, env=env):
            # Reports are due after 1 s, 3 s, ...: one in 2.5 s of absence, or more if the machine oversleeps.
            found = self.run_ranks(4, scenario, victim, operation, transport=transport, deadline=0,
                                   env={"CHORALE_TEST_ABSENCE_MS": str(int(absence * SLOWNESS)),
                                        "CHORALE_STALL_MS": str(int(1000 * SLOWNESS)),
                                        "CHORALE_SOFT_SEED": str(SEEDS.randrange(1 << 30)), **(env or {})})
            self.assertEqual([rank.number for rank in found], list(range(4)), self.story)
            for rank in found:
                self.assertEqual(rank.failures, [], self.story)
                self.assertIn("right", rank.notes, self.story)
            # Only the reports of calls, which name the host: on a busy machine ranks may also wait long for each other while joining.
            reports = [line for line in self.output.splitlines() if re.match(r"chorale: rank \d+ on host ", line)]
            self.assertTrue(reports, self.story)
            # Only the lowest waiting rank reports, always about the absent rank, and each time after a longer wait.
            reporter = 1 if victim == 0 else 0
            waited = []
            for report in reports:
                found = re.match(rf"chorale: rank {reporter} on host \S+ has waited ([0-9.]+) s ", report)
                self.assertTrue(found, self.story)
                waited.append(float(found.group(1)))
                for word in words:
                    self.assertIn(word, report, self.story)
            self.assertEqual(waited, sorted(set(waited)), self.story)

    def check_death(self, transport, operation, victim):
        with self.subTest(transport=transport, scenario="sleep-kill", operation=operation, victim=victim):
            found = self.run_ranks(4, "sleep-kill", victim, operation, transport=transport, deadline=0,
                                   env={"CHORALE_TEST_ABSENCE_MS": str(int(4000 * SLOWNESS))})
            dead = (victim + 1) % 4
            for rank in found:
                if rank.number == dead:
                    continue
                self.assertTrue(rank.failures, self.story)
                self.assertEqual(rank.failures[0].code, "peer_lost", self.story)
                self.assertIn(dead, rank.failures[0].ranks, self.story)
                took = [note for note in rank.notes if note.startswith("took ")]
                self.assertEqual(len(took), 0 if rank.number == victim else 1, self.story)
                # Measured from the beginning of the call; the victim dies up to 80 ms later.
                for note in took:
                    self.assertLess(int(note.split()[1]), (2000 + 80) * SLOWNESS, self.story)

    def check_all(self, transport):
        for operation, victim in zip(self.operations, (1, 0, 3, 2)):
            if operation == "fence" and transport == "ud":
                continue
            self.check_away(transport, "sleep", operation, victim, [f"rank {victim} computes", "CHORALE_STALL_MS"])
            self.check_death(transport, operation, victim)
        # A stopped rank answers nothing for much longer than the limit of silence, and does not count as dead.
        self.check_away(transport, "stop", "allreduce", 2, ["rank 2 is stopped"],
                        {"CHORALE_SILENCE_MS": str(int(1000 * SLOWNESS))}, absence=4000)
        self.check_away(transport, "sleep", "allreduce", 2, ["rank 2 computes"], self.adversary)

    def test_rc(self):
        self.check_all("rc")

    def test_ud(self):
        self.check_all("ud")

    def test_ud_rdma(self):
        self.check_all("ud_rdma")

    def test_hybrid(self):
        self.check_all("hybrid")

    def test_late_root(self):
        """A leaving rank stays until a root that was stopped has all its data, even with heavy losses."""
        for seed in [SEEDS.randrange(1 << 30) for _ in range(max(1, round(3 * BUDGET)))]:
            with self.subTest(seed=seed):
                found = self.run_ranks(4, "late", 0, transport="ud", deadline=0,
                                       env={"CHORALE_TEST_ABSENCE_MS": str(int(2600 * SLOWNESS)),
                                            "CHORALE_SOFT_ENGINE": "deferred", "CHORALE_SOFT_LOSS": "40",
                                            "CHORALE_SOFT_SEED": str(seed)})
                for rank in found:
                    self.assertEqual(rank.failures, [], self.story)
                    self.assertIn("left", rank.notes, self.story)
                self.assertIn("right", found[0].notes, self.story)


class Mismatched(Case):
    """Calls that do not match."""

    def test_all_kinds(self):
        for transport in "rc", "ud", "hybrid":
            for kind, operation, words in [("operation", "barrier", ["barrier", "allreduce"]),
                                           ("operation", "nonblocking", []),
                                           ("operation", "plan", []),
                                           ("root", "broadcast", ["root 0", "root 1"]),
                                           ("root", "reduce", ["root 0", "root 1"]),
                                           ("bytes", "broadcast", ["4000", "4004"]),
                                           ("bytes", "allreduce", ["4000", "4004"]),
                                           ("type", "allreduce", ["int32", "float32"]),
                                           ("operator", "allreduce", ["sum", "max"])]:
                with self.subTest(transport=transport, kind=kind, operation=operation):
                    found = self.run_ranks(4, f"mismatch-{kind}", 2, operation, transport=transport)
                    self.check_survivors(found, 4, -1, ["mismatch"], words)

    # All four ranks are survivors, and each text names rank 2 and one other rank.
    def check_survivors(self, found, ranks, victim, codes, words=(), within=None):
        for rank in found:
            self.assertTrue(rank.failures, self.story)
            self.assertIn(2, rank.failures[0].ranks, self.story)
            self.assertEqual(len(rank.failures[0].ranks), 2, self.story)
        for rank in found:
            rank.failures[0].ranks.append(victim)
        super().check_survivors(found, ranks, victim, codes, words, within)


class Refused(Case):
    """A job that cannot begin reports the reason."""

    def check_all(self, found, ranks, code, *words):
        self.assertEqual(len(found), ranks, self.story)
        for rank in found:
            self.assertEqual([failure.code for failure in rank.failures], [code], self.story)
            for word in words:
                self.assertIn(word, rank.failures[0].text, self.story)

    def test_root_outside(self):
        for rank in self.run_ranks(3, "root", -1):
            self.assertEqual([failure.code for failure in rank.failures], ["invalid_argument"] * 2, self.story)
            self.assertIn("root -1", rank.failures[0].text)
            self.assertIn("root 3 is not in 0..2", rank.failures[1].text)
            self.assertIn("finished", rank.notes, self.story)

    def test_devices(self):
        self.check_all(self.run_ranks(2, "nothing", -1, env={"CHORALE_DEVICE": "nosuch7"}), 2, "no_device", "nosuch7")
        for rank in self.run_ranks(2, "never", -1, "barrier", deadline=SHORT, env={"CHORALE_SOFT_PROFILE": "fabric=1;fabric=2"}):
            self.assertRegex(rank.failures[0].text, "no datagram has arrived from rank [01] in this communicator: is there .* of soft0 here.*set CHORALE_DEVICE.*deadline passed")

    def test_profile(self):
        roce = "link=ethernet,gids=%s/::ffff:10.0.0.1"
        for profile, *words in [
                ("ud=no", "no datagrams (UD)"),
                (roce % "v2" + ";mtu=512", "link layers differ", "Ethernet"), (roce % "v2" + ";" + roce % "v1", "RoCE versions differ"),
                ("subnet=fe80::;subnet=fe80:0:0:1::", "subnets differ", "fe80::/64", "fe80:0:0:1::/64"),
                ("pkeys=8001;pkeys=8002", "partitions differ", "0x8001", "0x8002"), ("pkeys=7fff", "limited members")]:
            with self.subTest(profile=profile):
                self.check_all(self.run_ranks(2, "nothing", -1, env={"CHORALE_SOFT_PROFILE": profile}), 2, "unsupported", *words)

    def test_device_that_fails(self):
        found = self.run_ranks(3, "kill", -1, "allreduce", env={"CHORALE_SOFT_PROFILE": "mtu=4096;events=fatal@300;mtu=4096"})
        self.assertIn("device failed or was removed (DEVICE_FATAL)", found[1].failures[0].text, self.story)
        self.assertEqual([found[rank].failures[0].ranks for rank in (0, 2)], [[1], [1]], self.story)

    def test_environment(self):
        for variable, value in [("CHORALE_BLOCK_BYTES", "banana"), ("CHORALE_BLOCKS", "1"), ("CHORALE_WAIT", "please"),
                                ("CHORALE_DEADLINE_MS", "-1"), ("CHORALE_BLOCK_BYTES", "200"), ("CHORALE_MTU", "1000"),
                                ("CHORALE_RANKS", "many")]:
            with self.subTest(variable=variable, value=value):
                self.check_all(self.run_ranks(2, "nothing", -1, env={variable: value}), 2, "invalid_environment",
                               variable, value)

    def test_ranks_with_other_settings(self):
        with_other = ["env", "CHORALE_BLOCK_BYTES=512", PROGRAM]
        with tempfile.TemporaryDirectory() as folder:
            command = [*launch.mpirun(), "-n", "1", *with_other, folder, "nothing", "-1", ":", "-n", "2", PROGRAM,
                       folder, "nothing", "-1"]
            status, self.story = launch.run(command, LIMIT)
            found = [Rank(path) for path in pathlib.Path(folder).iterdir()]
        self.assertEqual(status, 0, self.story)
        self.check_all(found, 3, "mismatch", "512", "CHORALE_BLOCK_BYTES")

    def test_wrong_number_of_ranks(self):
        self.check_all(self.run_ranks(3, "nothing", -1, env={"CHORALE_RANKS": "4"}), 3, "bootstrap_failed",
                       "expects 4 ranks")
        self.check_all(self.run_ranks(1, "nothing", -1, env={"CHORALE_RANKS": "4"}, launcher=["env"]), 1,
                       "no_launcher", "expects 4 ranks", "mpirun")

    def test_launcher_without_pmix(self):
        mpich = shutil.which("mpirun.mpich") or shutil.which("mpiexec.hydra")
        if mpich is None:
            self.skipTest("there is no launcher of mpich here (tools/install-dependencies --ci)")
        self.check_all(self.run_ranks(2, "nothing", -1, launcher=[mpich, "-n", "2"]), 2, "no_launcher", "mpirun.openmpi", "2 processes")

    def test_singleton(self):
        for rank in self.run_ranks(1, "root", -1, launcher=["env"]):
            self.assertLessEqual({"ready 1", "no launcher", "finished"}, set(rank.notes), self.story)
            self.assertTrue(any("singleton" in note for note in rank.notes), self.story)


if __name__ == "__main__":
    launch.required()
    PROGRAM = sys.argv.pop(1)
    SEED = int(os.environ.get("CHORALE_TEST_SEED", "0"), 0) or random.SystemRandom().randrange(1, 1 << 30)
    print(f"CHORALE_TEST_SEED={SEED}", flush=True)
    SEEDS = random.Random(SEED)
    unittest.main(verbosity=2)
