#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-format over the sources of the tree, and shellcheck over its shell scripts; neither may complain. Usage: linters.py ROOT"""
import pathlib
import shutil
import subprocess
import sys

from tree import sources

FOLDERS = (".ci", "include", "lib", "examples", "tests", "tools")


def scripts(root):
    """The files below FOLDERS whose first line names a shell."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file():
                with path.open("rb") as file:
                    first = file.readline(80)
                if first.startswith(b"#!") and first.strip().endswith((b"bash", b"/sh")):
                    yield path.relative_to(root)


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    statuses = []
    # Other versions of clang-format format C++20 differently.
    for program, options, files in (("clang-format-16", ["--dry-run", "--Werror"], sources(root, *FOLDERS)),
                                    ("shellcheck", ["--external-sources", f"--source-path={root}"], scripts(root))):
        if shutil.which(program):
            statuses.append(subprocess.run([program, *options, *files], cwd=root, check=False).returncode)
        else:
            print(f"skipped: {program} is not installed (tools/install-dependencies --ci)")
    sys.exit(77 if not statuses else 1 if any(statuses) else 0)


if __name__ == "__main__":
    main()
