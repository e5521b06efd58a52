#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the text of the tree: length of files, licence, left-over marks, a README in each folder of headers.

Usage: text.py ROOT. Prints each offence as `file:line: what`; exit status 1 if there is one.
"""
import pathlib
import re

from tree import SOURCES, run

FOLDERS = ("include", "lib", "tools", "examples", "tests")
LONGEST = 400
LICENCE = "SPDX-License-Identifier: Apache-2.0"
# Composed of pieces, so that this file passes its own check.
LEFT_OVER = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" + "XX"]) + r")\b")


def texts(root):
    """The text files below FOLDERS, relative to root."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts and b"\0" not in path.read_bytes()[:8192]:
                yield path.relative_to(root)


def offences(root):
    """Every violation of a rule in the tree, as lines of text."""
    found = []
    for file in texts(root):
        try:
            lines = (root / file).read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError as e:
            found.append(f"{file}: is not UTF-8: {e}")
            continue
        is_script = bool(lines) and lines[0].startswith("#!")
        is_source = is_script or file.suffix in (*SOURCES, ".py", ".build", ".bash")
        if is_source and not any(line.endswith(LICENCE) for line in lines[is_script:is_script + 1]):
            found.append(f"{file}:1: does not begin with a comment {LICENCE}")
        # Generated tables may have any length.
        if len(lines) - is_source > LONGEST and file.suffix not in (".json", ".map"):
            found.append(f"{file}:{LONGEST}: has {len(lines)} lines, more than {LONGEST}: split it")
        for number, line in enumerate(lines, 1):
            mark = LEFT_OVER.search(line)
            if mark:
                found.append(f"{file}:{number}: {mark.group()} is left over: do it, or describe the limit")
    rooms = {path.parent.relative_to(root / top) for top in ("include/chorale", "lib") for path in (root / top).rglob("*.hpp")}
    for folder in sorted(rooms - {pathlib.Path(".")}):
        readmes = [root / top / folder / "README.md" for top in ("include/chorale", "lib")]
        if not any(readme.is_file() and readme.read_text(encoding="utf-8").strip() for readme in readmes):
            found.append(f"{folder}: has headers and no README.md in include/chorale or lib (purpose, what it may include, how to add one)")
    return found


if __name__ == "__main__":
    run(offences, texts, "text files")
