#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that all files agree on the version of Chorale, and that packages are named after the library's ABI version."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# The files that contain the version, each with a pattern whose first match is it.
PLACES = {
    "meson.build": r"^  version : '([^']+)'",
    "CHANGELOG.md": r"^## (\S+) \(\d{4}-\d\d-\d\d\)$",
    "debian/changelog": r"\Achorale \((\S+)-\d+\) ",
}
HEADER = "include/chorale/core/version.hpp"


def first(path, pattern):
    """The group of the pattern's first match in a file of the tree."""
    found = re.search(pattern, (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        sys.exit(f"{path}: nothing fits {pattern}")
    return found.group(1)


def main():
    named = {path: first(path, pattern) for path, pattern in PLACES.items()}
    named[HEADER] = ".".join(first(HEADER, rf"^#define CHORALE_VERSION_{part} (\d+)$") for part in ("MAJOR", "MINOR", "PATCH"))
    wrong = [f"{path} says version {version}" for path, version in named.items()] if len(set(named.values())) != 1 else []
    version = named["meson.build"]
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        wrong.append(f"{version} is not a semantic version of three numbers")
    number = first("meson.build", r"^soversion = '(\d+)'$")
    packages = re.findall(r"^Package: (libchorale\S*?)(\d*)$", (ROOT / "debian/control").read_text(encoding="utf-8"), re.MULTILINE)
    wrong += [f"debian/control: {name}{given} holds a library of soversion {number}" for name, given in packages
              if not name.endswith("-dev") and given != number]
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"version {version}, soversion {number}")


if __name__ == "__main__":
    main()
