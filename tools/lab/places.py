#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranks of two machines with several ranks each: soft0 within, Soft-RoCE between (tools/rxe-lab --hosts 2).

Usage: places.py BUILD FOLDER TEST. Both machines see both folders, and ranks write into FOLDER. TEST: Killed, Slurm, Near, which prints how long calls
take compared with CHORALE_NEAR=off, or Lost, which switches node2 off. Exit status 77 if the test has been skipped, as Slurm is where Slurm is missing.
"""
import csv
import json
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / folder) for folder in ("multirank", "lab")]
sys.dont_write_bytecode = True

import failures  # noqa: E402
import launch  # noqa: E402
import meeting  # noqa: E402
import slurm_test  # noqa: E402

BUILD = FOLDER = pathlib.Path()
LIMIT = 600  # the processors are emulated
DEADLINE = 30


class Case(failures.Case):
    """Two ranks on each machine, one of which dies. Without a launcher, since mpirun does not end if a rank on another machine is killed."""

    maxDiff = None

    def run_job(self, transport, victim, operation, and_then="", survivors=4):
        """What the ranks have recorded, by number. `and_then`: a shell command to run after the victim's death; `survivors`: the number of first ranks
        to wait for."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=FOLDER))
        # One folder per machine, since the names of the files are PIDs.
        script = f'mkdir -p {folder}/$(hostname); {BUILD}/tests/multirank/failing {folder}/$(hostname) kill {victim} {operation}'
        with meeting.Job(4, CHORALE_TEST_TRANSPORT=transport, CHORALE_DEADLINE_MS=str(1000 * DEADLINE), CHORALE_SILENCE_MS=str(500 * DEADLINE)) as job:
            for rank in range(4):
                job.start(rank, meeting.HOSTS[rank // 2], ["sh", "-c", f"{script}; {and_then}" if rank == victim else script])
            said = [output for _, output in job.ends(survivors)]
        found = sorted(map(failures.Rank, folder.glob("*/*")), key=lambda rank: rank.number)
        self.story = "\n".join([*said, *map(str, found)])
        return found


class Killed(Case):
    """A rank is killed: ranks of its place learn of it from the process table, the others through the adapter."""

    def test_rank(self):
        for transport, victim, operation in ("rc", 3, "allreduce"), ("rc", 0, "barrier"), ("hybrid", 1, "broadcast"):
            with self.subTest(transport=transport, victim=victim, operation=operation):
                found = self.run_job(transport, victim, operation)
                self.check_survivors(found, 4, victim, ("peer_lost", "deadline"), within=DEADLINE + 60)


class Cluster(slurm_test.Cluster):
    """Slurm's daemons on both machines."""

    device = "rxe1"
    address = "10.0.0.1"
    minutes = 5

    def __init__(self, place):
        super().__init__(place)
        self.nodes = {host: (host, f"10.0.0.{number}", 6818) for number, host in enumerate(meeting.HOSTS, 1)}

    def start_node(self, node):
        # On other systems, systemd creates this folder.
        slurmd = f"mkdir -p /sys/fs/cgroup/system.slice && SLURM_CONF={self.place}/slurm.conf slurmd -N {node}"
        if node == meeting.HOSTS[0]:
            return self.start("sh", "-c", slurmd)
        files = f"tar c -C {self.place} slurm.conf cgroup.conf munge/key tmp spool-{node}"
        self.start("sh", "-c", f"{files} | ssh {node} 'mkdir -p {self.place}/munge && tar x -C {self.place}'")
        return self.start("ssh", node, f"{shlex.join(self.munged())} && {slurmd}")

    def end(self):
        other = meeting.HOSTS[1]
        subprocess.run(["ssh", other, f"kill $(cat {self.place}/slurmd-{other}.pid {self.place}/munge/pid); rm -rf {self.place}"], check=False, stdin=subprocess.DEVNULL)
        super().end()


@unittest.skipUnless(shutil.which("slurmctld"), f"there is no slurmctld ({slurm_test.PACKAGES}; tools/install-dependencies --ci)")
class Slurm(unittest.TestCase):
    """Ranks that srun starts on both machines."""

    def test_srun(self):
        with tempfile.TemporaryDirectory(prefix="chorale-slurm-") as folder, Cluster(pathlib.Path(folder)) as cluster:
            for layout, of_first in ("block", "0, 1, 2, 3"), ("cyclic", "0, 2, 4, 6"):
                status, said = cluster.srun("--mpi=pmix", "-N2", "-n8", "--ntasks-per-node=4", f"--distribution={layout}", str(BUILD / "examples/26_places"))
                self.assertEqual(status, 0, said)
                self.assertIn("allreduce of 8 ranks on 2 hosts: right", said)
                self.assertIn(f"host 0: ranks {of_first}\n", said)


class Near(unittest.TestCase):
    """Compares calls with and without CHORALE_NEAR=off, which uses the adapter for everything, alternating within one run."""

    def test_calls(self):
        both = [{"name": name, "transport": "rc", "algorithm": "standard", "settings": {"CHORALE_NEAR": name}} for name in ("auto", "off")]
        set_ups = FOLDER / "set-ups.json"
        set_ups.write_text(json.dumps({"set_ups": [{"name": f"{operation} of {size} bytes", "operation": operation, "sizes": [size], "contestants": both}
                                                   for operation, size in (("allreduce", 8), ("allgather", 65536))]}), encoding="utf-8")
        table = FOLDER / "near.csv"
        command = [*launch.mpirun(), *launch.on_hosts("node1:4,node2:4"), "-n", "8", str(BUILD / "tools/chorale-bench"), "--set-ups", str(set_ups), "--csv", str(table), "--samples", "11",
                   "--warmup", "20", "--budget", "4"]
        status, said = launch.run(command, 2 * LIMIT)
        print(said)
        self.assertEqual(status, 0)
        rows = list(csv.DictReader(line for line in table.read_text(encoding="utf-8").splitlines() if not line.startswith("#")))
        times = {(row["set_up"], row["contestant"]): float(row["median_us"]) for row in rows}
        for name in sorted({name for name, _ in times}):
            print(f"{name}: {times[name, 'auto']:.0f} us, CHORALE_NEAR=off {times[name, 'off']:.0f} us: {times[name, 'off'] / times[name, 'auto']:.2f} times as long")


class Lost(Case):
    """A machine fails, so that its ranks can notify no one."""

    def test_machine(self):
        found = [rank for rank in self.run_job("rc", 2, "allreduce", "echo o >/proc/sysrq-trigger", 2) if rank.number < 2]
        self.assertEqual([rank.number for rank in found], [0, 1], self.story)
        for rank in found:
            first, *later = rank.failures
            self.assertIn(first.code, ("peer_lost", "deadline"), self.story)
            self.assertTrue({2, 3} & set(first.ranks), self.story)
            self.assertEqual([failure.code for failure in later], ["poisoned"] * 2, self.story)


if __name__ == "__main__":
    BUILD, FOLDER = map(pathlib.Path, sys.argv[1:3])
    FOLDER.mkdir(parents=True, exist_ok=True)
    slurm_test.SECONDS = LIMIT // 2
    result = unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2, exit=False).result
    # To unittest a skipped test is a success.
    sys.exit(1 if not result.wasSuccessful() else slurm_test.SKIPPED if result.skipped else 0)
