#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the files named in READMEs and docs exist: `core/clock.hpp`, `../lib/soft/README.md`, [a link](docs/calls.md).

Usage: references.py ROOT. A name may be relative to the root, to include/chorale or lib, or to the page's own folder, or be the end of a
file's path. Prints each name that matches nothing as `file:line: what`; exit status 1 if there is one.
"""
import os
import re

from tree import run

ENDINGS = r"hpp|cpp|py|md|build|svg"
QUOTED = re.compile(r"`([^`\n]+)`|\]\(([^)#\s]+)")
NAMED = re.compile(rf"(?<![\w*])[\w.-]+(?:/[\w.-]+)*\.(?:{ENDINGS})\b")
# Placeholder names.
ANY = {"first.cpp", "NN_name.cpp", "x.hpp", "T.hpp", "T.cpp", "thing.hpp", "thing.cpp", "TARGET.cpp", "name.hpp", "_test.cpp"}


def files(root):
    """The files of the tree, without those in build folders, as text."""
    for folder, below, names in os.walk(root):
        below[:] = [name for name in below if not name.startswith(("build", ".git", "__pycache__"))]
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), root)


def pages(root):
    return [file for file in files(root) if file.endswith(".md") and not file.startswith("subprojects")]


def offences(root):
    """Every name of a file that does not exist, as lines of text."""
    there = set(files(root))
    ends = {"/".join(file.split("/")[start:]) for file in there for start in range(file.count("/") + 1)}
    found = []
    for page in sorted(pages(root)):
        text = (root / page).read_text(encoding="utf-8")
        for quoted in QUOTED.finditer(text):
            for named in NAMED.findall(quoted.group(1) or quoted.group(2)):
                beside = os.path.normpath(os.path.join(os.path.dirname(page), named))
                # The README of a folder describes both include/chorale and lib.
                twin = beside.replace("include/chorale/", "lib/", 1) if beside.startswith("include/") else beside.replace("lib/", "include/chorale/", 1)
                if named in ends or beside in there or twin in there or os.path.basename(named) in ANY:
                    continue
                line = text.count("\n", 0, quoted.start()) + 1
                found.append(f"{page}:{line}: names {named}, which is not there")
    return found


if __name__ == "__main__":
    run(offences, pages, "pages")
