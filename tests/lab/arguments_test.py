#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What tools/rxe-lab refuses, what it says then, and how the steps of tools/check-rxe are counted; boots nothing. Usage: arguments_test.py RXE_LAB"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/guide"), str(ROOT / "tools/lab")]
sys.dont_write_bytecode = True
import check  # noqa: E402
import page  # noqa: E402


def run(*words, path=None):
    """(exit status, standard error) of the script."""
    environment = dict(os.environ)
    if path is not None:
        environment["PATH"] = path
    with tempfile.TemporaryDirectory() as cache:
        result = subprocess.run(["/bin/bash", PROGRAM, "--cache", cache, *words], capture_output=True, text=True,
                                check=False, timeout=60, env=environment)
    return result.returncode, result.stderr


class Arguments(unittest.TestCase):
    def test_mistakes_are_named(self):
        for words, said in [((), "Usage"), (("--nonsense", "true"), "Usage"), (("--devices",), "needs a value"),
                            (("--hosts", "0", "true"), "--hosts"), (("--hosts", "9", "true"), "at most 8"),
                            (("--hosts", "8", "--devices", "32", "true"), "at most 250"),
                            (("--devices", "0", "true"), "--devices"), (("--devices", "65", "true"), "at most 64"),
                            (("--loss", "much", "true"), "'much'"), (("--cpus", "-1", "true"), "'-1'"),
                            (("--timeout", "1h", "true"), "'1h'")]:
            with self.subTest(words=words):
                status, errors = run(*words)
                self.assertEqual(status, 2, errors)
                self.assertIn(said, errors)

    def test_help(self):
        text = subprocess.run(["/bin/bash", PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout
        for option in "--devices", "--hosts", "--loss", "--share", "--timeout", "125", "124", "77":
            self.assertIn(option, text)

    def test_the_guide_has_a_session_on_two_hosts(self):
        # What tools/check-rxe --cluster replays.
        commands = [command for session in page.sessions_that_need(ROOT / "docs/guide/cluster.md", "two hosts") for command in session]
        self.assertTrue(any(command.text.startswith("mpirun") and command.expected for command in commands))

    def test_missing_tools_are_a_reason_to_skip(self):
        # A PATH with everything but QEMU.
        with tempfile.TemporaryDirectory() as folder:
            for name in "bash", "uname", "readlink", "dirname", "cat":
                found = next(p for p in ("/usr/bin", "/bin") if (pathlib.Path(p) / name).exists())
                (pathlib.Path(folder) / name).symlink_to(f"{found}/{name}")
            status, errors = run("true", path=folder)
        self.assertEqual(status, 77, errors)
        if os.uname().machine == "x86_64":
            self.assertIn("qemu-system-x86", errors)

    def test_a_step_without_slurm_is_skipped(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, ROOT / "tools/lab/places.py", folder, folder, "Slurm"], capture_output=True, text=True, check=False, timeout=60,
                                  env={**os.environ, "PATH": folder})
        self.assertEqual(done.returncode, 77, done.stderr)
        self.assertIn("there is no slurmctld", done.stderr)

    def test_the_sum_names_skipped_steps(self):
        for outcomes, said, good in [([("a", "passed")], "1 steps, 0 failed, 0 skipped", True),
                                     ([("a", "skipped"), ("b", "passed"), ("c", "skipped")], "3 steps, 0 failed, 2 skipped (a; c)", True),
                                     ([("a", "skipped"), ("b", "FAILED (1)")], "2 steps, 1 failed, 1 skipped (a)", False)]:
            with self.subTest(outcomes=outcomes):
                self.assertEqual(check.total(outcomes), (said, good))


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main(verbosity=2)
