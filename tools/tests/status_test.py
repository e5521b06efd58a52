#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inspects hanging jobs with chorale-status. Usage: status_test.py STATUS RANKS, the tool and the program of status_ranks.cpp."""
import json
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / "tests" / folder) for folder in ("multirank", "support")]
import launch  # noqa: E402
from privileged import NOBODY, as_user, why_not_as  # noqa: E402

STATUS, RANKS = sys.argv[1:3]
LIMIT = 300
MAGIC = 0x7375746174734843
SLOT_BYTES, SLOTS = 2048, 511


def status(*arguments, prefix=()):
    return subprocess.run([*prefix, STATUS, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT,
                          check=False)


def until(condition):
    """The result of a condition as soon as it is true, which may take long on a busy machine."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("waited in vain")


class Job:
    """A job of status_ranks.cpp while it hangs."""

    def __init__(self, case, ranks, mode):
        self.folder = pathlib.Path(case.enterContext(tempfile.TemporaryDirectory())) if hasattr(case, "enterContext") else self.made(case)
        self.ranks = 3 if mode == "threads" else ranks
        words = [RANKS, str(self.folder), mode]
        if mode != "threads" and ranks > 1:
            words = [*launch.mpirun(), "--enable-recovery", "-n", str(ranks), *words]
        variables = launch.on_soft0(TMPDIR="/tmp", CHORALE_SOFT_FABRIC=f"status-{os.getpid()}-{random.randrange(1 << 30)}")
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        env=variables)
        case.addCleanup(self.end)
        until(lambda: len(self.pids()) == self.ranks or self.process.poll() is not None)

    @staticmethod
    def made(case):
        folder = tempfile.TemporaryDirectory()
        case.addCleanup(folder.cleanup)
        return pathlib.Path(folder.name)

    def pids(self):
        """The PIDs of the ranks that are ready, by rank."""
        found = {int(file.suffix[1:]): file.read_text(encoding="utf-8") for file in self.folder.glob("ready.*")}
        return {rank: int(text) for rank, text in sorted(found.items()) if text.endswith("\n")}

    def say(self, what):
        (self.folder / what).touch()

    def look(self, condition=lambda job: True):
        """The output about the job as soon as it fulfils a condition."""
        def told():
            done = status("--json", self.process.pid)
            if done.returncode != 0:
                return None
            jobs = json.loads(done.stdout)["jobs"]
            return jobs[0] if len(jobs) == 1 and condition(jobs[0]) else None
        return until(told)

    def end(self):
        self.say("go")
        self.say("end")
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            for pid in self.pids().values():
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        self.process.communicate(timeout=LIMIT)


def communicator(job, name=""):
    found = [one for one in job["communicators"] if one["name"] == name]
    assert len(found) == 1, (name, job)
    return found[0]


def standing(count):
    """A condition: that many ranks have been in the same wait for a while."""
    return lambda job: sum(rank["stands"] for one in job["communicators"] for rank in one["ranks"]) >= count


class Hanging(unittest.TestCase):
    def setUp(self):
        if launch.mpirun() is None:
            self.skipTest("there is no Open MPI mpirun")

    def check_late(self, job, size):
        told = job.look(standing(size - 1))
        comm = communicator(told, "solver")
        self.assertEqual((comm["size"], comm["hosts"], comm["gone"]), (size, 1, []))
        self.assertEqual([rank["rank"] for rank in comm["ranks"]], list(range(size)))
        self.assertEqual({rank["rank"]: rank["pid"] for rank in comm["ranks"]}, job.pids())
        *waiters, last = comm["ranks"]
        for rank in waiters:
            self.assertEqual((rank["calls_begun"], rank["calls_ended"], rank["in_call"]), (7, 6, True))
            self.assertEqual(rank["call"], "barrier (call 7)")
            self.assertGreater(rank["waited"], 0)
            self.assertLessEqual(rank["waited"], rank["in_call_for"] + 0.01)
        self.assertEqual((last["calls_begun"], last["calls_ended"], last["in_call"], last["waits_for"]), (6, 6, False, None))
        self.assertEqual(last["call"], "allreduce of 8 bytes (call 6)")
        self.assertEqual(told["cycles"], [])
        late = [end for end in told["ends"] if end["what"] == "late"]
        self.assertEqual([(end["rank"], end["pid"]) for end in late], [(size - 1, last["pid"])])
        self.assertEqual(late[0]["waiters"], size - 1)
        return told, last

    def check_absence(self, job, size):
        """Checks how long the late rank has been outside all calls: known after its service thread has run, and consistent in later outputs."""
        def is_known(told):
            return communicator(told, "solver")["ranks"][-1]["outside_for"] is not None

        began = []
        for _ in range(2):
            before = time.monotonic()
            ranks = communicator(job.look(is_known), "solver")["ranks"]
            after = time.monotonic()
            self.assertEqual([rank["outside_for"] for rank in ranks[:-1]], [None] * (size - 1))
            began.append((before - ranks[-1]["outside_for"], after - ranks[-1]["outside_for"]))
        # Both outputs imply the same instant, each within an interval between two readings of the clock.
        self.assertLessEqual(max(first for first, _ in began), min(last for _, last in began) + 0.01)

    def test_a_rank_that_is_late(self):
        for size in (2, 3, 5):
            with self.subTest(size=size):
                job = Job(self, size, "late")
                _, last = self.check_late(job, size)
                self.check_absence(job, size)
                text = status(last["pid"]).stdout
                self.assertRegex(text, rf"rank {size - 1} \(pid {last['pid']}\) IS LATE: in no call for \d+\.\d s; its last was allreduce of 8 bytes \(call 6\)")
                self.assertRegex(text, r"<- rank 0 \(pid \d+\) in barrier \(call 7\).*, waits for rank \d for \d+\.\d s")
                job.say("go")
                self.assertEqual(job.process.wait(timeout=LIMIT), 0)

    def test_threads_as_ranks(self):
        self.check_late(Job(self, 3, "threads"), 3)

    def test_processes_that_are_stopped(self):
        job = Job(self, 3, "late")
        job.look(standing(2))
        for pid in job.pids().values():
            os.kill(pid, signal.SIGSTOP)
        try:
            told = job.look(lambda seen: all(rank["state"] in "Tt" for rank in communicator(seen, "solver")["ranks"]))
            self.assertEqual([rank["calls_begun"] for rank in communicator(told, "solver")["ranks"]], [7, 7, 6])
            self.assertIn("STOPPED", status(job.process.pid).stdout)
        finally:
            for pid in job.pids().values():
                os.kill(pid, signal.SIGCONT)

    def test_crossed_communicators(self):
        job = Job(self, 2, "crossed")
        told = job.look(lambda seen: seen["cycles"])
        self.assertEqual(len(told["cycles"]), 1)
        first, second = communicator(told, "first"), communicator(told, "second")
        in_circle = {(one["communicator"], one["rank"]) for one in told["cycles"][0]}
        self.assertLessEqual({(first["id"], 0), (second["id"], 1)}, in_circle)
        self.assertEqual([(rank["calls_begun"], rank["calls_ended"]) for rank in second["ranks"]], [(6, 6), (7, 6)])
        self.assertEqual([(rank["calls_begun"], rank["calls_ended"]) for rank in first["ranks"]], [(1, 0), (0, 0)])
        self.assertEqual([end for end in told["ends"] if end["what"] == "late"], [])
        text = status(job.process.pid).stdout
        self.assertIn("A CYCLE: each waits for the next, and none goes on", text)
        self.assertRegex(text, r"rank 0 of 'first' \(pid \d+\) in barrier \(call 1\)")

    def test_a_rank_that_is_killed(self):
        job = Job(self, 4, "killed")
        pids = job.pids()
        job.look(standing(3))
        job.say("go")
        until(lambda: len(list(job.folder.glob("failed.*"))) == 3)
        told = job.look(lambda seen: all("failure" in rank for rank in communicator(seen)["ranks"]))
        comm = communicator(told)
        self.assertEqual(({rank["rank"]: rank["pid"] for rank in comm["ranks"]}, comm["gone"]), ({r: pids[r] for r in (0, 1, 2)}, [3]))
        for rank in comm["ranks"]:
            self.assertIn("rank 3 ", rank["failure"])
            self.assertIn("peer lost", rank["failure"])
        text = status(pids[0]).stdout
        self.assertIn("gone: dead, or it has destroyed its communicator", text)
        self.assertIn("has failed: rank 3 ", text)

    def test_children_of_fork(self):
        job = Job(self, 2, "forked")
        told = job.look(standing(1))
        self.assertEqual({process["pid"] for process in told["processes"]}, set(job.pids().values()))
        comm = communicator(told, "parents")
        self.assertEqual([(rank["pid"], rank["calls_begun"], rank["calls_ended"]) for rank in comm["ranks"]],
                         [(job.pids()[0], 6, 6), (job.pids()[1], 7, 6)])
        job.say("go")
        self.assertEqual(job.process.wait(timeout=LIMIT), 0)

    def test_jobs_beside_each_other(self):
        jobs = [Job(self, 2, "late"), Job(self, 3, "late")]
        for job, size in zip(jobs, (2, 3)):
            job.look(standing(size - 1))
        told = json.loads(status("--json").stdout)["jobs"]
        seen = [{process["pid"] for process in one["processes"]} for one in told]
        for job in jobs:
            self.assertIn(set(job.pids().values()), seen)

    def test_many_communicators(self):
        job = Job(self, 2, "many")
        told = job.look(lambda seen: len(seen["communicators"]) == 41)
        self.assertEqual({one["size"] for one in told["communicators"]}, {2})
        self.assertIn("number \\x1b[31m7", {one["name"] for one in told["communicators"]})
        self.assertNotIn("\x1b", status(job.process.pid).stdout)


class Nothing(unittest.TestCase):
    def test_no_job(self):
        done = status(os.getpid())
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr, f"chorale-status: neither process {os.getpid()} nor one that it has started has a communicator\n")

    def test_no_process(self):
        child = subprocess.Popen(["true"])
        child.wait()
        done = status(child.pid)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"there is no process {child.pid} here", done.stderr)

    def test_another_user(self):
        if why := why_not_as(NOBODY):
            self.skipTest(why)
        sleeper = subprocess.Popen(as_user(NOBODY, ["sleep", "600"]))
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        until(lambda: pathlib.Path(f"/proc/{sleeper.pid}/comm").read_text(encoding="utf-8") == "sleep\n")
        done = status(sleeper.pid)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, rf"process {sleeper.pid} \(sleep\) belongs to user nobody, and this is run by root")
        # And the reverse.
        done = status(os.getpid(), prefix=as_user(NOBODY, []))
        if done.returncode in (126, 127):
            self.skipTest("nobody cannot run chorale-status here: a folder above the build is closed to others")
        self.assertEqual(done.returncode, 1)
        self.assertIn("belongs to user root, and this is run by nobody", done.stderr)

    def test_mistakes(self):
        for arguments in (["--al"], ["x"], ["0"], ["-3"], ["--between", "0"], ["1", "2"]):
            self.assertEqual(status(*arguments).returncode, 2, arguments)
        self.assertEqual(status("--help").returncode, 0)


class Forged(unittest.TestCase):
    """Memory with the name of a rank's, but other contents."""

    def look_at(self, content, size=None):
        """The output about this process with that memory; chorale-status must not crash."""
        memory = os.memfd_create("chorale-status")
        try:
            os.ftruncate(memory, (SLOTS + 1) * SLOT_BYTES if size is None else size)
            os.pwrite(memory, content, 0)
            done = status("--json", "--all", os.getpid(), "--between", "1")
            self.assertIn(done.returncode, (0, 1), done.stderr)
            text = status("--all", os.getpid(), "--between", "1")
            self.assertIn(text.returncode, (0, 1), text.stderr)
            self.assertNotRegex(text.stdout, "[\x00-\x08\x0b-\x1f\x7f]")
            return json.loads(done.stdout)["jobs"], text.stdout
        finally:
            os.close(memory)

    def header(self, magic=MAGIC, layout=2, slot_bytes=SLOT_BYTES, slots=SLOTS, pid=None):
        return struct.pack("<QIIIiI", magic, layout, slot_bytes, slots, os.getpid() if pid is None else pid, 0)

    def test_headers(self):
        for content, said in ((b"", "holds something else"), (self.header(magic=7), "holds something else"),
                              (self.header(layout=9), "another version of libchorale"),
                              (self.header(slots=1 << 31), "another version of libchorale")):
            jobs, text = self.look_at(content)
            self.assertEqual(len(jobs), 1)
            self.assertIn(said, jobs[0]["processes"][0]["problem"])
            self.assertIn(said, text)
        for size in (0, 1, SLOT_BYTES, SLOTS * SLOT_BYTES):
            jobs, _ = self.look_at(self.header()[:size], size)
            self.assertIn("problem", jobs[0]["processes"][0])

    def test_a_child_that_has_it_from_its_parent(self):
        slot = bytearray(SLOT_BYTES)
        struct.pack_into("<I", slot, 296, 2)  # its version
        struct.pack_into("<Qiii", slot, 336, 5, 0, 2, 1)  # communicator 5, rank 0 of 2, on one host
        told = [self.look_at(self.header(pid=pid).ljust(SLOT_BYTES, b"\0") + slot)[0] for pid in (os.getpid(), os.getppid())]
        self.assertEqual([len(jobs) for jobs in told], [1, 0])
        self.assertEqual([(rank["rank"], rank["calls_begun"]) for rank in told[0][0]["communicators"][0]["ranks"]], [(0, 0)])

    def test_slots_of_noise(self):
        seed = int(os.environ.get("CHORALE_TEST_SEED", random.SystemRandom().randrange(1 << 30)))
        print(f"CHORALE_TEST_SEED={seed}")
        noise = random.Random(seed)
        for kind in ("bytes", "words", "ones"):
            slots = bytearray((SLOTS + 1) * SLOT_BYTES)
            for at in range(0, len(slots), 4):
                word = {"bytes": noise.randrange(1 << 32), "words": noise.choice((0, 1, 2, 3, 4, 0xffffffff, 0x80000000)),
                        "ones": 0xffffffff}[kind]
                slots[at:at + 4] = struct.pack("<I", word)
            slots[:SLOT_BYTES] = self.header().ljust(SLOT_BYTES, b"\0")
            for job in self.look_at(bytes(slots))[0]:
                for one in job["communicators"]:
                    for rank in one["ranks"]:
                        self.assertTrue(0 <= rank["rank"] < one["size"], rank)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
