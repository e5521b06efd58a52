#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranks on two machines that meet by bootstrap::tcp, without a launcher (tools/rxe-lab --hosts 2). Usage: meeting.py RANKS

RANKS is the program tests/bootstrap/tcp_ranks.cpp, which compares sums of several communicators; both machines have it at the same place.
"""
import pathlib
import secrets
import shlex
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/multirank"))
from launch import Running  # noqa: E402

RANKS = ""
HOSTS = ("node1", "node2")
LIMIT = 600  # the processors are emulated


class Job(Running):
    """The ranks of a job, each started separately on a machine; they end with this object."""

    def __init__(self, size, **more):
        super().__init__(LIMIT)
        self.variables = {"CHORALE_BOOTSTRAP": "tcp", "WORLD_SIZE": str(size), "MASTER_ADDR": HOSTS[0], "MASTER_PORT": "29500", "CHORALE_DEADLINE_MS": "300000",
                          "CHORALE_TCP_SECRET": secrets.token_hex(16), **more}

    def start(self, rank, host, command=None, **more):
        """Starts a rank. `command`: a shell command instead of the sums."""
        words = [f"{name}={value}" for name, value in {**self.variables, "RANK": str(rank), **more}.items()]
        # Standard input, unlike arguments, is invisible to other users of that machine.
        remote = self.begin(["ssh", host, f"read -r words; eval exec env $words {shlex.quote(shlex.join(command or [RANKS, 'sums', str(len(HOSTS))]))}"], stdin=subprocess.PIPE)
        remote.stdin.write(shlex.join(words) + "\n")
        remote.stdin.flush()


class Meeting(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.began = time.monotonic()

    def tearDown(self):
        print(f"({self.id().rpartition('.')[2]}: {time.monotonic() - self.began:.1f} s)", flush=True)

    def test_two_machines(self):
        for size in 2, 4:
            with self.subTest(size=size), Job(size) as job:
                for rank in reversed(range(size)):
                    job.start(rank, HOSTS[rank * len(HOSTS) // size])
                ends = job.ends()
                self.assertEqual(sorted(ends), [(0, f"rank {rank} of {size}: all right\n") for rank in range(size)])

    def test_another_secret(self):
        with Job(2, CHORALE_DEADLINE_MS="30000") as job:
            job.start(0, HOSTS[0])
            job.start(1, HOSTS[1], CHORALE_TCP_SECRET="guessed")
            (first, waited), (second, refused) = job.ends()
            self.assertEqual((first, second), (1, 1), waited + refused)
            self.assertIn("rank 1 of 2 has not come", waited)
            self.assertIn("its secret is another one", refused)

    def test_two_are_rank_1(self):
        """One process on each machine; which one is refused depends on their speed."""
        with Job(3, CHORALE_DEADLINE_MS="60000") as job:
            for rank, host in (0, HOSTS[0]), (1, HOSTS[0]), (1, HOSTS[1]):
                job.start(rank, host)
            ends = job.ends()
            self.assertEqual([status for status, _ in ends], [1] * 3, ends)
            said = [output for _, output in ends if "two processes say that they are rank 1" in output]
            self.assertTrue(said, ends)
            for host in HOSTS:
                self.assertIn(host, said[0])


if __name__ == "__main__":
    RANKS = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
