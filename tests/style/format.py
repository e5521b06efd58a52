#!/usr/bin/env python3
"""Runs clang-format over the sources of the tree and names those that it would change. Usage: format.py ROOT"""
import pathlib
import subprocess
import sys

from tree import need

# Another version lays out C++20 differently.
FORMATTER = "clang-format-16"
FOLDERS = ("include", "lib", "examples", "tests", "tools")


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    need(FORMATTER)
    sources = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*.[hc]pp"))]
    sys.exit(subprocess.run([FORMATTER, "--dry-run", "--Werror", *map(str, sources)], check=False).returncode)


if __name__ == "__main__":
    main()
