#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that docs/guide/errors.md has every `errc`, in its order and with its message, and no other. Usage: errors_test.py"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def documented():
    """(name, message) of each code that has a heading."""
    text = (ROOT / "docs/guide/errors.md").read_text(encoding="utf-8")
    sections = re.split(r"^### ", text, flags=re.MULTILINE)[1:]
    for section in sections:
        for part in ("*What it means.*", "*What to do.*"):
            if part not in section:
                sys.exit(f"errors.md: a section lacks {part}: {section.splitlines()[0]}")
    return [re.match(r"`(\w+)`: (.*)", section).groups() for section in sections]


def enumerated():
    """(name, message) of each enumerator."""
    header = (ROOT / "include/chorale/core/error.hpp").read_text(encoding="utf-8")
    body = re.search(r"enum class errc \{(.*?)\};", header, re.DOTALL).group(1)
    names = re.findall(r"^  (\w+)(?: = \d+)?,", body, re.MULTILINE)
    source = (ROOT / "lib/core/error.cpp").read_text(encoding="utf-8")
    messages = dict(re.findall(r"case errc::(\w+):\s*return \"([^\"]*)\";", source))
    return [(name, messages.get(name, "(no message)")) for name in names]


def main():
    page, library = documented(), enumerated()
    if not library or page != library:
        sys.exit(f"errors.md has\n  {page}\nand the library\n  {library}")
    print(f"{len(library)} codes")


if __name__ == "__main__":
    main()
