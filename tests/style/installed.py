#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that nothing is installed which no user needs: each header below include/ is one that include/chorale/README.md promises, or is
included by one; and that pages and examples include promised headers only.

Usage: installed.py ROOT. Prints each other header; exit status 1 if there is one. It belongs to lib/, in the folder of the same name.
"""
import fnmatch
import pathlib
import re

from tree import closure, run, sources

INCLUDE = pathlib.Path("include/chorale")

ROW = re.compile(r"^\| `([^`]+\.hpp)` \| (.+) \|$", re.MULTILINE)
# The headers that users name, and why they do.
USER = dict(ROW.findall((pathlib.Path(__file__).resolve().parents[2] / INCLUDE / "README.md").read_text(encoding="utf-8")))
# In pages and examples.
NAMED = re.compile(r"^ *#include <chorale/([^>]+)>", re.MULTILINE)


def is_named(header):
    """Whether users name this header (a path below include/chorale)."""
    return any(fnmatch.fnmatchcase(str(header), pattern) for pattern in USER)


def programs(root):
    """Pages and examples, which show users what they may include."""
    return [*root.glob("*.md"), *(root / "docs").rglob("*.md"), *(root / "examples").rglob("*.cpp")]


def offences(root):
    """Every installed header that no user needs, every pattern that means none, and every page that names another, as lines of text."""
    headers = list(sources(root, INCLUDE))
    inside = [header.relative_to(INCLUDE) for header in headers]
    needed = closure(root, (header for header, name in zip(headers, inside) if is_named(name)))
    unused = [pattern for pattern in USER if not any(fnmatch.fnmatchcase(str(name), pattern) for name in inside)]
    return ([f"{header}: no header that users name includes it: it belongs to lib/{name.parent}"
             for header, name in zip(headers, inside) if header not in needed] +
            [f"include/chorale/README.md: there is no header {pattern}" for pattern in unused] +
            [f"{file.relative_to(root)}: <chorale/{name}> is not promised in include/chorale/README.md" for file in programs(root)
             for name in NAMED.findall(file.read_text(encoding="utf-8")) if not is_named(name)])


if __name__ == "__main__":
    run(offences, lambda root: sources(root, INCLUDE), "installed headers")
