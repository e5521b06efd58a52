#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every public name is documented (`tools/docs --check`), and that this check detects a name that is not.

Usage: reference_test.py. Exit status 77 (skipped) if there is no Doxygen.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Each case: a header, of which a copy is made; the text to replace in it, and the replacement; the expected message.
MISTAKES = {
    "a function": ("chorale/communicator.hpp", "  /// Returns once all ranks have called it.\n", "", "Member barrier() (function) of class chorale::communicator is not documented"),
    "a class": ("chorale/core/arguments.hpp", "///", "//", "Compound chorale::in_place_t is not documented"),
    "a class without members": ("chorale/algorithm/barrier/standard.hpp", "///", "//", "Compound chorale::barrier::standard is not documented"),
    "an enumerator": ("chorale/core/error.hpp", "///< a rank died or cannot be reached", "", "Enumerator peer_lost is not documented"),
    "a concept": ("chorale/bootstrap/concept.hpp", "///", "//", "Compound chorale::bootstrap::group is not documented"),
    "markup": ("chorale/core/config.hpp", "/// How long registrations of user memory are kept.", "/// How long registrations of <user> memory are kept.", "Unsupported xml/html tag <user>"),
}


def check(root):
    done = subprocess.run([root / "tools/docs", "--check"], check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    return done.returncode, done.stdout


def main():
    if shutil.which("doxygen") is None:
        print("skipped: there is no doxygen (tools/install-dependencies --ci)")
        sys.exit(77)
    status, said = check(ROOT)
    print(said, end="")
    if status != 0:
        sys.exit("write a comment /// for each of these names, as CONTRIBUTING.md says (Style)")
    with tempfile.TemporaryDirectory(prefix="chorale-reference-") as place:
        copy = pathlib.Path(place)
        for folder in ("include", "tools/reference", "tools/website", "tests/style"):
            shutil.copytree(ROOT / folder, copy / folder)
        shutil.copy(ROOT / "tools/docs", copy / "tools")
        for what, (header, text, other, _) in MISTAKES.items():
            file = copy / "include" / header
            before = file.read_text(encoding="utf-8")
            if text not in before:
                sys.exit(f"{header} does not have {text!r} any more: choose another mistake for {what}")
            file.write_text(before.replace(text, other), encoding="utf-8")
        status, said = check(copy)
        missed = [f"{what} was not found in {header}" for what, (header, _, _, expected) in MISTAKES.items() if expected not in said]
        if status == 0 or missed:
            sys.exit("\n".join([said, *missed, f"exit status {status} of the check of headers with mistakes"]))


if __name__ == "__main__":
    main()
