#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that comments fit their lines, and do not break a sentence well before a line is full, as a careless reflow does.

Usage: comments.py ROOT. Prints each such line as `file:line: what`; exit status 1 if there is one.
"""
import re

from text import LICENCE
from tree import run, sources

FOLDERS = ("include", "lib", "examples", "tools", "tests")
LONGEST = 110
# Lines may end somewhat earlier, to keep words together.
SPARE = 8
COMMENT = re.compile(r"^\s*(//[/!]?)\s?(.*)$")
# Text that begins a new line for a reason: a list item, a row of a table or a figure, a tag.
BEGINS = re.compile(r"[-*|@`\[({<]|\d+[.)]|\w+:")


def offences(root):
    """Comment lines that end too early or are too long, as lines of text."""
    found = []
    for file in sources(root, *FOLDERS):
        lines = (root / file).read_text(encoding="utf-8").splitlines()
        for number, (line, following) in enumerate(zip(lines, lines[1:]), 1):
            here, there = COMMENT.match(line), COMMENT.match(following)
            if here and len(line) > LONGEST:
                found.append(f"{file}:{number}: the comment has {len(line)} columns, more than {LONGEST}")
            if not here or not there or here.group(1) != there.group(1) or line.endswith(LICENCE):
                continue
            words = there.group(2).split()
            if not words or not here.group(2).strip() or BEGINS.match(there.group(2)) or here.group(2).rstrip()[-1] in ".:;!?,\\":
                continue
            # An indented line is a figure or a table, or continues a list item; then the line before is not just a word
            # or two.
            if there.group(2).startswith("  ") and len(here.group(2).split()) > 2:
                continue
            if len(line.rstrip()) + 1 + len(words[0]) + SPARE <= LONGEST:
                found.append(f"{file}:{number}: the comment is broken in the middle of a sentence, though {words[0]!r} would fit")
    return found


if __name__ == "__main__":
    run(offences, lambda root: sources(root, *FOLDERS), "sources")
