#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles all public headers for processors that are not available, syntax only, with warnings as errors. Usage: processors.py ROOT

Prints the compiler's errors; exit status 1 if one fails, 77 with the reason if none of the cross compilers is installed. The headers of
other libraries are those of this machine.
"""
import pathlib
import shutil
import subprocess
import sys

COMPILERS = ("aarch64-linux-gnu-g++", "powerpc64le-linux-gnu-g++")
FLAGS = ("-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-idirafter", "/usr/include")


def main():
    include = pathlib.Path(sys.argv[1]) / "include"
    headers = sorted(path.relative_to(include) for path in include.rglob("*.hpp"))
    source = "".join(f"#include <{header}>\n" for header in headers)
    there = [name for name in COMPILERS if shutil.which(name)]
    if not there:
        print(f"skipped: neither of {', '.join(COMPILERS)} is installed (tools/install-dependencies --ci)")
        sys.exit(77)
    failed = 0
    for compiler in there:
        done = subprocess.run([compiler, *FLAGS, f"-I{include}", "-x", "c++", "-"], input=source, text=True, stderr=subprocess.PIPE, check=False)
        print(done.stderr, end="")
        print(f"{len(headers)} headers by {compiler}, {'failed' if done.returncode else 'fine'}")
        failed += done.returncode != 0
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
