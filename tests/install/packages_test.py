#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks debian/*.install against what `meson install` installs: each file belongs to exactly one package, and each pattern matches a file.

Usage: packages_test.py BUILD PREFIX LIBDIR. tools/check-packages builds and tries the packages themselves.
"""
import fnmatch
import json
import os
import pathlib
import sys

DEBIAN = pathlib.Path(__file__).resolve().parent.parent.parent / "debian"
# Debian's library folder, whatever this build's is.
LIBDIR = "usr/lib/x86_64-linux-gnu"


def installed(build, prefix, libdir):
    """The paths in the packages of all files and folders that Meson installs."""
    with open(build / "meson-info" / "intro-installed.json", encoding="utf-8") as file:
        listed = json.load(file)
    found = set()
    for destination in listed.values():
        place = pathlib.PurePosixPath(os.path.relpath(destination, prefix))
        if place.is_relative_to(libdir):
            place = LIBDIR / place.relative_to(libdir)
        else:
            place = "usr" / place
        found.add(str(place))
    return found


def words(file):
    """The words of a debhelper file, without its comments."""
    return [word for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("#") for word in line.split()]


def means(pattern, place):
    """Whether dh_install takes a file by a pattern, which may match one of the folders that contain it."""
    parts, wanted = place.split("/"), pattern.split("/")
    return len(parts) >= len(wanted) and all(fnmatch.fnmatchcase(part, like) for part, like in zip(parts, wanted))


def main():
    build, prefix, libdir = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    places = installed(build, prefix, libdir)
    packages = {file.stem: words(file) for file in sorted(DEBIAN.glob("*.install"))}
    left_out = words(DEBIAN / "not-installed") if (DEBIAN / "not-installed").is_file() else []
    wrong = []
    for place in sorted(places):
        takers = [package for package, patterns in packages.items() if any(means(pattern, place) for pattern in patterns)]
        if len(takers) + any(means(pattern, place) for pattern in left_out) != 1:
            wrong.append(f"{place} belongs to {' and '.join(takers) or 'no package'}: correct debian/*.install")
    for package, patterns in packages.items():
        wrong += [f"debian/{package}.install: nothing is {pattern}" for pattern in patterns
                  if not any(means(pattern, place) for place in places)]
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{len(places)} files and folders in {len(packages)} packages")


if __name__ == "__main__":
    main()
