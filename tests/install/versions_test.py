#!/usr/bin/env python3
"""Checks that everything that names the version of Chorale names the same one."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Where the version stands, as the first match of the pattern.
PLACES = {
    "meson.build": r"^  version : '([^']+)'",
    "CHANGELOG.md": r"^## (\S+) \(\d{4}-\d\d-\d\d\)$",
}


def first(path, pattern):
    """What the pattern's group matches first in a file of the tree."""
    found = re.search(pattern, (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        sys.exit(f"{path}: nothing fits {pattern}")
    return found.group(1)


def main():
    named = {path: first(path, pattern) for path, pattern in PLACES.items()}
    wrong = [f"{path} says version {version}" for path, version in named.items()] if len(set(named.values())) != 1 else []
    version = named["meson.build"]
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        wrong.append(f"{version} is not a semantic version of three numbers")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"version {version}")


if __name__ == "__main__":
    main()
