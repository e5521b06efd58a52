#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The harness must refuse cases that prove nothing. Usage: self_test.py BUILD"""
import pathlib
import sys
import tempfile
import unittest

import run_cases

CASE = """// expect: {phrase}
int main() {{
#ifdef SHOULD_FAIL
  {bad}
#endif
  {good}
}}
"""


class Harness(unittest.TestCase):
    """One case of each kind."""

    def complaint(self, phrase="too long", bad="", good=""):
        with tempfile.TemporaryDirectory() as folder:
            case = pathlib.Path(folder) / "case.cpp"
            case.write_text(CASE.format(phrase=phrase, bad=bad, good=good), encoding="utf-8")
            return run_cases.check(*run_cases.compile_command(BUILD), case)

    def test_good(self):
        self.assertEqual(self.complaint(bad='static_assert(sizeof(char) > 1, "it is too long");'), "")

    def test_other_reason(self):
        self.assertIn("without saying ['too long']", self.complaint(bad="int 3;"))

    def test_compiles(self):
        self.assertIn("must not compile", self.complaint(bad=""))

    def test_twin_is_broken(self):
        self.assertIn("must compile without", self.complaint(good="int 3;"))

    def test_no_expectation(self):
        self.assertIn("has no line", self.complaint(phrase=""))

    def test_own_comment_is_no_answer(self):
        self.assertIn("without saying", self.complaint(phrase="stray", bad="int 3;  // expect: stray"))


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    unittest.main(verbosity=2)
