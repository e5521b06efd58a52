#!/usr/bin/env python3
"""A calibrated machine is one that chorale-sim can simulate. Usage: calibration_test.py POINTS SIM MPIRUN"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

POINTS, SIM, MPIRUN = sys.argv[1:4]


def run(*words):
    environment = {**os.environ, "CHORALE_DEVICE": "soft0"}
    return subprocess.run([*map(str, words)], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=800, check=False)


def on(ranks, *words):
    return run(MPIRUN, "--oversubscribe", "--allow-run-as-root", "-n", ranks, POINTS, "calibrate", *words)


class Calibration(unittest.TestCase):
    def test_what_it_writes_can_be_simulated(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "here.json"
            done = on(2, "--machine", file)
            self.assertEqual(done.returncode, 0, done.stderr)
            machine = json.loads(file.read_text(encoding="utf-8"))
            self.assertEqual(machine["machine"], "here")
            self.assertIn("soft0", machine["description"])
            # A store that another core has seen has taken some time, and no core copies a terabyte a second.
            self.assertGreater(machine["host"]["notice"]["ns"], 0)
            for step in machine["host"]["copy"] + machine["host"]["combine"]:
                self.assertLessEqual(step["rate"]["MB/s"], 1e6)
                self.assertGreater(step["rate"]["MB/s"], 0)
            done = run(SIM, "barrier", "allreduce", "--machine", file, "--ranks", 2, "--ranks-per-host", 2, "--sizes",
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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
