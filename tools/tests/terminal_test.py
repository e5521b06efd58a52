#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Passes terminal control sequences to the installed programs, checks their output, and lets it fail. Usage: terminal_test.py BENCH INFO..."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from running import QUICK, run  # noqa: E402

BENCH, *OTHERS = sys.argv[1:]
INFO = OTHERS[0]


class Terminal(unittest.TestCase):
    """Control sequences from any source are printed visibly."""
    OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
    TITLE = "\x1b]0;t\x07\x9b\u202e"

    def shown(self, *command, **variables):
        done = run(*command, **variables)
        self.assertIsNone(self.OBEYED.search(done.stdout + done.stderr), (command, done.stdout, done.stderr))
        self.assertIn("x1b]0;t", done.stdout + done.stderr)

    def test_arguments(self):
        for program in (BENCH, *OTHERS):
            self.shown(program, "/nowhere/" + self.TITLE, "--" + self.TITLE)

    def test_files(self):
        self.shown(BENCH, "--from", "/nowhere/" + self.TITLE)
        self.shown(BENCH, *QUICK, "barrier", "--csv", "/nowhere/" + self.TITLE)
        with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as result:
            json.dump({"about": {self.TITLE: self.TITLE}, "machine": {}, "run": {}, "ranks": 1, "unit": "us", "rows": []}, result, ensure_ascii=False)
            result.flush()
            self.shown(BENCH, "--from", result.name)

    def test_environment(self):
        for more in ([], ["--json"]):
            done = run(INFO, *more, **{"CHORALE_" + self.TITLE: "1"}, CHORALE_MTU=self.TITLE)
            self.assertIsNone(self.OBEYED.search(done.stdout + done.stderr), done)
        self.shown(BENCH, *QUICK, "barrier", **{"CHORALE_" + self.TITLE: "1"})
        self.shown(BENCH, *QUICK, "barrier", CHORALE_DEVICE=self.TITLE)
        self.shown(BENCH, *QUICK, "barrier", CHORALE_RANKS=self.TITLE)

    def test_secret(self):
        """Secrets are hidden, since reports are sent to others."""
        for more in ([], ["--json"]):
            done = run(INFO, *more, CHORALE_TCP_SECRET="hidden-treasure")
            self.assertIn("CHORALE_TCP_SECRET", done.stdout)
            self.assertNotIn("hidden-treasure", done.stdout + done.stderr)

    def test_output_that_cannot_be_written(self):
        for program in (BENCH, *OTHERS[:2]):
            with self.subTest(program=program), open("/dev/full", "w", encoding="utf-8") as full:
                for option in ("--help", *(["--list"] if program == BENCH else [])):
                    done = subprocess.run([program, option], stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
                    self.assertEqual(done.returncode, 1)
                    self.assertIn(f"{pathlib.Path(program).name}: standard output cannot be written", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
