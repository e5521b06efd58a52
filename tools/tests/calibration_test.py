#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""chorale-sim can simulate a calibrated machine, and what chorale-points and mpi-peers refuse. Usage: calibration_test.py POINTS SIM MPIRUN"""
import json
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import running  # noqa: E402

POINTS, SIM, MPIRUN = sys.argv[1:4]


def on(ranks, *words):
    return running.run(MPIRUN, "--oversubscribe", "-n", ranks, POINTS, "calibrate", *words)


class Calibration(running.InFolder):
    def test_what_it_writes_can_be_simulated(self):
        file = self.folder / "here.json"
        done = on(2, "--machine", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        machine = json.loads(file.read_text(encoding="utf-8"))
        self.assertEqual(machine["machine"], "here")
        self.assertIn("soft0", machine["description"])
        # Another core sees a store only after some time, and no core copies a terabyte per second.
        self.assertGreater(machine["host"]["notice"]["ns"], 0)
        for step in machine["host"]["copy"] + machine["host"]["combine"]:
            self.assertLessEqual(step["rate"]["MB/s"], 1e6)
            self.assertGreater(step["rate"]["MB/s"], 0)
        done = running.run(SIM, "barrier", "allreduce", "--machine", file, "--ranks", 2, "--ranks-per-host", 2, "--sizes",
                   "8,64K", "--check")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("WRONG", done.stdout)

    def test_mistakes(self):
        self.assertEqual(on(2).returncode, 2)
        for ranks in (1, 3):
            done = on(ranks, "--machine", "/tmp/never.json")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(f"start 2 ranks, not {ranks}", done.stderr)
        done = on(2, "--machine", "/nowhere/never.json")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("/nowhere/never.json", done.stderr)

    def test_sizes_beyond_those_of_the_interfaces(self):
        """Refused, instead of cut off to 32 bits."""
        peers = pathlib.Path(POINTS).parent / "mpi-peers-openmpi"
        for words, said in (((POINTS, "latency", "--sizes", "4G"), "--sizes takes up to 1073741824 bytes"),
                            *([((peers, "allreduce", "--sizes", "8,4G"), "sizes are 2147483647 bytes at most")] if peers.exists() else [])):
            done = running.run(MPIRUN, "--oversubscribe", "-n", 2, *words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual(done.stderr.count(said), 1, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
