#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that only headers that users need are installed: each header below include/ is listed in include/chorale/README.md, or is
included by such a header; and pages and examples include listed headers only.

Usage: installed.py ROOT. Prints each other header; exit status 1 if there is one. Such a header belongs in lib/, in the folder of the same name.
"""
import fnmatch
import pathlib
import re

from tree import closure, run, sources

INCLUDE = pathlib.Path("include/chorale")

ROW = re.compile(r"^\| `([^`]+\.hpp)` \| (.+) \|$", re.MULTILINE)
# The headers that users name, and their purpose.
USER = dict(ROW.findall((pathlib.Path(__file__).resolve().parents[2] / INCLUDE / "README.md").read_text(encoding="utf-8")))
# An include in a page or an example.
NAMED = re.compile(r"^ *#include <chorale/([^>]+)>", re.MULTILINE)


def is_named(header):
    """Whether users name this header (a path below include/chorale)."""
    return any(fnmatch.fnmatchcase(str(header), pattern) for pattern in USER)


def programs(root):
    """Pages and examples, which show users what they may include."""
    return [*root.glob("*.md"), *(root / "docs").rglob("*.md"), *(root / "examples").rglob("*.cpp")]


def offences(root):
    """Every installed header that no user needs, every pattern that matches no header, and every page that names another header, as lines of text."""
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
