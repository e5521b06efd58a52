#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each *.cpp here must compile, and must not compile with -DSHOULD_FAIL, with the phrases of its `// expect: phrase` lines as errors.

A case with a line `// with: FLAGS` need not compile otherwise: with these flags it must fail, with no other errors.

Usage: run_cases.py BUILD [FOLDER]. The compiler and flags are those of the build. Exit status 1 if a case fails.
"""
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from project_compiler import compile_command, precompile  # noqa: E402

WITH = re.compile(r"^\s*// with: (.*\S)\s*$", re.MULTILINE)
EXPECT = re.compile(r"^\s*// expect: (.*\S)\s*$", re.MULTILINE)
# Most cases include it first, so it is precompiled.
COMMON = "#include <chorale/communicator.hpp>\n"
# Compilers wrap and quote messages differently: line breaks and quotation marks are ignored.
BLANK = re.compile(r"\s+|['‘’`\"]")


def compile_case(command, folder, case, *flags):
    """(whether the case compiles, diagnostics); writes no output file."""
    done = subprocess.run([*command, *flags, "-fsyntax-only", str(case)], cwd=folder, text=True, capture_output=True,
                          check=False)
    return done.returncode == 0, done.stderr


def plain(words):
    """The text without differences between compilers."""
    return BLANK.sub(" ", words).replace("  ", " ")


def check(command, folder, case):
    """What is wrong with the case; empty if nothing is."""
    expected = EXPECT.findall(case.read_text(encoding="utf-8"))
    if not expected:
        return "has no line `// expect: phrase`"
    flags = WITH.findall(case.read_text(encoding="utf-8"))
    compiles, said = compile_case(command, folder, case) if not flags else (True, "")
    if not compiles:
        return f"must compile without SHOULD_FAIL and does not:\n{said}"
    compiles, said = compile_case(command, folder, case, *(flags[0].split() if flags else ["-DSHOULD_FAIL"]))
    if compiles:
        return f"must not compile with {flags[0] if flags else 'SHOULD_FAIL'} and does"
    if flags and said.count("error:") != len(expected):
        return f"says more than what is expected:\n{said[:2000]}"
    # The compiler quotes source lines: the expectation itself must not be taken for a diagnostic.
    spoken = plain("\n".join(line for line in said.splitlines() if "// expect: " not in line))
    missing = [phrase for phrase in expected if plain(phrase) not in spoken]
    if missing:
        return f"fails to compile, without saying {missing}:\n{said}"
    return ""


def main():
    command, folder = compile_command(sys.argv[1])
    here = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else __file__).resolve()
    cases = sorted((here if here.is_dir() else here.parent).glob("*.cpp"))
    with tempfile.TemporaryDirectory(prefix="chorale-cases-") as work, concurrent.futures.ThreadPoolExecutor(2) as pool:
        common = precompile(command, folder, COMMON, work)

        def run(case):
            given = common if COMMON in case.read_text(encoding="utf-8") else []
            return check([*command, *given], folder, case)

        complaints = list(pool.map(run, cases))
    for case, complaint in zip(cases, complaints):
        print(f"{'FAIL' if complaint else 'ok'}: {case.name}{': ' + complaint if complaint else ''}")
    sys.exit(1 if any(complaints) or not cases else 0)


if __name__ == "__main__":
    main()
