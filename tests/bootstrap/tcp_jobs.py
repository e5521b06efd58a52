#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs without a launcher: a process for each rank, which gets RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT. Usage: tcp_jobs.py RANKS COLLECTIVES

RANKS is the program tcp_ranks.cpp, COLLECTIVES tests/multirank/collectives.cpp.
"""
import pathlib
import random
import secrets
import signal
import socket
import sys
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / folder) for folder in ("multirank", "support")]
import launch  # noqa: E402
from privileged import NOBODY, as_user, in_mount_namespace, why_no_mount_namespace, why_not_as  # noqa: E402

RANKS = COLLECTIVES = ""
LIMIT = 300


def free_port():
    """A free port below the range of ephemeral ports."""
    while True:
        port = random.SystemRandom().randrange(10000, 30000)
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def environment(**more):
    """The environment without the variables of launchers and other tests."""
    return {**launch.on_soft0("OMPI_", "PMIX_", "PMI_", "SLURM_", "TORCHELASTIC_"),
            "CHORALE_BOOTSTRAP": "tcp", "CHORALE_DEADLINE_MS": "120000", "CHORALE_TCP_SECRET": secrets.token_hex(16), **more}


class Job(launch.Running):
    """The ranks of a job, which end with this object."""

    def __init__(self, size, *words, **more):
        super().__init__(LIMIT)
        self.words, self.size = [str(word) for word in words], size
        self.variables = environment(**{"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), **more})

    def start(self, rank, **more):
        variables = {name: value for name, value in {**self.variables, "RANK": str(rank), "WORLD_SIZE": str(self.size), **more}.items() if value is not None}
        return self.begin(self.words, env=variables)

    def start_all(self):
        for rank in random.sample(range(self.size), self.size):
            self.start(rank)
        return self


class Case(unittest.TestCase):
    def all_right(self, job):
        for status, output in job.ends():
            self.assertEqual(status, 0, output)


class Collectives(Case):
    """Every collective, over ranks that met by bootstrap::tcp."""

    def test_sizes(self):
        for size in (1, 2, 3, 5, 7):
            with self.subTest(size=size), Job(size, COLLECTIVES, "--largest", "4096", CHORALE_TEST_BUDGET="0.2") as job:
                self.all_right(job.start_all())


class Many(Case):
    """More ranks than cores."""

    def test_sizes(self):
        for size in (1, 2, 3, 5, 7, 13, 17, 33):
            with self.subTest(size=size), Job(size, RANKS) as job:
                ends = job.start_all().ends()
                for status, output in ends:
                    self.assertEqual(status, 0, output)
                self.assertEqual(sorted(output for _, output in ends), sorted(f"rank {rank} of {size}: all right\n" for rank in range(size)))


class Meeting(Case):
    """How ranks meet, and their errors if they do not."""

    def test_as_torchrun(self):
        """All variables that torchrun sets, for two groups of two ranks; its agent listens at MASTER_PORT, or says that it does not."""
        for agent_listens in (True, False):
            with self.subTest(agent_listens=agent_listens), Job(4, RANKS, MASTER_ADDR="localhost") as job, socket.socket(socket.AF_INET) as agent:
                if agent_listens:
                    agent.bind(("127.0.0.1", int(job.variables["MASTER_PORT"])))
                    agent.listen()
                for rank in random.sample(range(4), 4):
                    job.start(rank, LOCAL_RANK=str(rank % 2), GROUP_RANK=str(rank // 2), ROLE_RANK=str(rank), ROLE_NAME="default", LOCAL_WORLD_SIZE="2", GROUP_WORLD_SIZE="2",
                              ROLE_WORLD_SIZE="4", TORCHELASTIC_RESTART_COUNT="0", TORCHELASTIC_MAX_RESTARTS="0", TORCHELASTIC_RUN_ID="none",
                              TORCHELASTIC_USE_AGENT_STORE=str(agent_listens), TORCH_NCCL_ASYNC_ERROR_HANDLING="1", OMP_NUM_THREADS="1")
                self.all_right(job)

    def test_a_rank_of_another_user(self):
        """Both ranks say that soft0 connects the processes of one user."""
        if why := why_not_as(NOBODY, RANKS):
            self.skipTest(why)
        with Job(2, RANKS) as job:
            job.start(0)
            job.words = as_user(NOBODY, job.words)
            job.start(1)
            for status, output in job.ends():
                self.assertEqual(status, 1, output)
                for word in ("soft0 connects processes of one user", f"user {NOBODY}", "user 0", "start all ranks as one user"):
                    self.assertIn(word, output)

    def test_without_hosts_file(self):
        """As in small containers, where the resolver cannot resolve this host's name."""
        hide = "{ [ ! -e /etc/hosts ] || mount --bind /dev/null /etc/hosts; }"
        if why := why_no_mount_namespace(hide):
            self.skipTest(why)
        with Job(3, *in_mount_namespace(hide, [RANKS]), MASTER_ADDR="localhost") as job:
            self.all_right(job.start_all())

    def test_rank_0_last(self):
        with Job(3, RANKS) as job:
            for rank in (2, 1):
                job.start(rank)
            time.sleep(0.7)
            job.start(0)
            self.all_right(job)

    def test_other_port(self):
        with Job(2, RANKS, MASTER_PORT="1", CHORALE_TCP_PORT=str(free_port())) as job:
            self.all_right(job.start_all())

    def test_killed(self):
        """A rank is killed while the others wait for a rank that has not started yet."""
        for victim in (0, 1):
            with self.subTest(victim=victim), Job(4, RANKS, "says", CHORALE_DEADLINE_MS="20000") as job:
                ranks = [job.start(rank) for rank in range(3)]
                for one in ranks:
                    self.assertEqual(one.stdout.readline(), "begins\n")
                time.sleep(0.5)
                ranks[victim].kill()
                for rank in {0, 1, 2} - {victim}:
                    output, _ = ranks[rank].communicate(timeout=LIMIT)
                    # On a busy machine the rank may be killed before it has joined: then the others wait until the
                    # deadline.
                    self.assertRegex(output, "ended, or was killed, before all ranks had come|have not come|still waits for the rank that listens")
                    self.assertEqual(ranks[rank].returncode, 1)

    def test_killed_later(self):
        with Job(3, RANKS, "kills") as job:
            outputs = [output for status, output in job.start_all().ends() if status != -signal.SIGKILL]
            self.assertEqual(len(outputs), 2)
            for output in outputs:
                self.assertIn("rank 1", output)
                self.assertIn("has ended, or was killed", output)

    def test_late(self):
        with Job(3, RANKS, CHORALE_DEADLINE_MS="700") as job:
            job.start(0)
            job.start(2)
            for status, output in job.ends():
                self.assertEqual(status, 1)
                self.assertIn("rank 1 of 3 has not come", output)

    def test_two_are_rank_0(self):
        """Either may listen first; the other one ends immediately."""
        with Job(2, RANKS) as job:
            both = [job.start(0), job.start(0)]
            while not (ended := [one for one in both if one.poll() is not None]):
                time.sleep(0.01)
            output, _ = ended[0].communicate(timeout=LIMIT)
            self.assertEqual(ended[0].returncode, 1)
            self.assertIn("a second process of this one is rank 0, too", output)

    def test_a_further_program_of_a_rank(self):
        """It inherits RANK and the address, but the ranks have met: it gives up, and disturbs nobody. Without the variables it is a singleton."""
        for rank, words in enumerate(("rank 1 of 2 has not come", "still waits for the rank that listens")):
            with self.subTest(rank=rank), Job(2, RANKS, f"starts{rank}") as job:
                ends = job.start_all().ends()
                said = "".join(output for _, output in ends)
                self.assertEqual([status for status, _ in ends], [0, 0], said)
                self.assertRegex(said, f"{words}.*env -u RANK -u CHORALE_BOOTSTRAP")
                for one in "rank 0 of 1", "rank 0 of 2", "rank 1 of 2":
                    self.assertIn(f"{one}: all right\n", said)

    def test_mistakes(self):
        for wrong, expected in (({"WORLD_SIZE": "3"}, "WORLD_SIZE"), ({"CHORALE_TCP_SECRET": "guessed"}, "its secret is another one"),
                                ({"RANK": "2"}, "RANK='2' cannot be used: it accepts 0 to 1"), ({"RANK": "one"}, "RANK='one'"),
                                ({"MASTER_ADDR": None}, "needs MASTER_ADDR"), ({"MASTER_PORT": "70000"}, "MASTER_PORT='70000'"),
                                ({"MASTER_PORT": "65535", "TORCHELASTIC_USE_AGENT_STORE": "True"}, "MASTER_PORT='65535' cannot be used.*set CHORALE_TCP_PORT"),
                                ({"MASTER_ADDR": "no-such-host.invalid"}, "'no-such-host.invalid' does not resolve"), ({"CHORALE_RANKS": "3"}, "CHORALE_RANKS expects 3"),
                                ({"CHORALE_BOOTSTRAP": "udp"}, "it accepts auto or tcp"),
                                ({"CHORALE_BOOTSTRAP": None}, "set CHORALE_BOOTSTRAP=tcp")):
            deadline = "2000" if "MASTER_ADDR" in wrong else "20000"  # a name may resolve later, so it is looked up until then
            with self.subTest(wrong=wrong), Job(2, RANKS, CHORALE_DEADLINE_MS=deadline) as job:
                job.start(0)
                one = job.start(1, **wrong)
                output, _ = one.communicate(timeout=LIMIT)
                self.assertEqual(one.returncode, 1, output)
                self.assertRegex(output, expected)


if __name__ == "__main__":
    RANKS, COLLECTIVES = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
