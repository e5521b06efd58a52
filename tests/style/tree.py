# SPDX-License-Identifier: Apache-2.0
"""Common parts of the style checks: the files of the tree, their includes, and the main program of a check."""
import functools
import os
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*(<([^>]+)>|"([^"]+)")')
SOURCES = (".hpp", ".h", ".cpp", ".c", ".ipp")


def run(offences, files, what):
    """The main program of a check of the tree ROOT, its argument: prints what `offences(ROOT)` finds, one per line.

    Exit status 1 if there is an offence, or if `files(ROOT)` is empty, so that nothing was checked. `what` is the plural noun for these.
    """
    root = pathlib.Path(sys.argv[1]).resolve()
    number = len(list(files(root)))
    if number == 0:
        sys.exit(f"no {what} below {root}")
    found = offences(root)
    print("\n".join([*found, f"{number} {what}, {len(found)} offences"]))
    sys.exit(1 if found else 0)


def sources(root, *folders):
    """The C++ files below the folders, relative to root."""
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SOURCES:
                yield path.relative_to(root)


def library(root):
    """The C++ files of the library."""
    return sources(root, "include", "lib")


@functools.cache
def includes(path):
    """(line number, name, is quoted) of each #include of a file."""
    lines = enumerate(map(INCLUDE.match, path.read_text(encoding="utf-8").splitlines()), 1)
    return [(number, found.group(2) or found.group(3), found.group(3) is not None) for number, found in lines if found]


def resolve(root, file, name, quoted):
    """The file of the tree that an include refers to; None if it belongs to another package."""
    places = [pathlib.Path("include")]
    if quoted:
        places = [file.parent, pathlib.Path("lib")] + places
    for place in places:
        target = pathlib.Path(os.path.normpath(place / name))
        if (root / target).is_file():
            return target
    return None


@functools.cache
def included(root, file):
    """The files of the tree that a file includes directly."""
    targets = [resolve(root, file, name, quoted) for _, name, quoted in includes(root / file)]
    return [target for target in targets if target is not None]


def reachable(starts, targets):
    """All that can be reached from `starts`, which are part of it, by `targets(one)`."""
    seen = set()
    left = list(starts)
    while left:
        one = left.pop()
        if one not in seen:
            seen.add(one)
            left.extend(targets(one))
    return seen


def closure(root, files):
    """The files, and all that they include directly or indirectly."""
    return reachable(files, lambda file: included(root, file))
