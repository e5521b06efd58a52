#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that docs/settings.md has each CHORALE_... variable that the guide names. Usage: settings_test.py"""
import pathlib
import re
import sys

DOCS = pathlib.Path(__file__).resolve().parent.parent.parent / "docs"
VARIABLE = re.compile(r"\bCHORALE_[A-Z_]*[A-Z]\b")


def main():
    known = set(re.findall(r"^\| `(CHORALE_\w+)`", (DOCS / "settings.md").read_text(encoding="utf-8"), re.MULTILINE))
    wrong = [f"{page.name} names {name}, which docs/settings.md has not" for page in sorted((DOCS / "guide").glob("*.md"))
             for name in sorted(set(VARIABLE.findall(page.read_text(encoding="utf-8"))) - known)]
    if wrong or not known:
        sys.exit("\n".join(wrong) or "docs/settings.md has no table")


if __name__ == "__main__":
    main()
