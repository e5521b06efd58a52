#!/usr/bin/env python3
"""Compiles each public header alone, twice included, with the project's flags and warnings as errors.

Usage: headers.py ROOT BUILD. Prints what the compiler says of each header that fails; exit status 1 if one does.
"""
import concurrent.futures
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from project_compiler import compile_command  # noqa: E402


def check(command, folder, header):
    """The compiler's complaint about a program that is nothing but this header; empty if it has none."""
    program = f"#include <{header}>\n" * 2
    done = subprocess.run([*command, "-Werror", "-fsyntax-only", "-x", "c++", "-"], cwd=folder, input=program,
                          text=True, capture_output=True, check=False)
    return done.stderr if done.returncode else ""


def failures(include, command, folder, jobs=2):
    """(header, complaint) of each header below `include` that does not compile alone, and their number in all."""
    headers = [str(path.relative_to(include)) for path in sorted(include.rglob("*.hpp"))]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        complaints = list(pool.map(lambda header: check(command, folder, header), headers))
    return [pair for pair in zip(headers, complaints) if pair[1]], len(headers)


def main():
    include = pathlib.Path(sys.argv[1]).resolve() / "include"
    command, folder = compile_command(sys.argv[2])
    failed, total = failures(include, command, folder)
    for header, complaint in failed:
        print(f"--- {header} does not compile alone:\n{complaint}")
    print(f"{total} headers, {len(failed)} do not compile alone")
    sys.exit(1 if failed or not total else 0)


if __name__ == "__main__":
    main()
