#!/usr/bin/env python3
"""Runs shellcheck over the shell scripts of the tree. Usage: shell.py ROOT"""
import pathlib
import subprocess
import sys

from tree import need

FOLDERS = (".ci", "tools", "tests", "examples")


def scripts(root):
    """The files below FOLDERS whose first line asks for a shell."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file():
                with path.open("rb") as file:
                    first = file.readline(80)
                if first.startswith(b"#!") and first.strip().endswith((b"bash", b"/sh")):
                    yield path


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    need("shellcheck")
    found = [str(path) for path in scripts(root)]
    print("\n".join(found))
    sys.exit(subprocess.run(["shellcheck", "--external-sources", "--source-path", root, *found], check=False).returncode)


if __name__ == "__main__":
    main()
