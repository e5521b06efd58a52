#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no object file of the libraries registers a destructor to be run when the process or a thread ends (lib/core/immortal.hpp).

Usage: destructors_test.py LIBRARY...   Each is in its folder of the build, beside the folder of its object files. clang warns of such objects
(meson.build), but it compiles neither every library in CI nor the libraries of most users.
"""
import pathlib
import re
import subprocess
import sys


def registering(library):
    """(object files of the library, those that register a destructor)."""
    objects = sorted(pathlib.Path(library + ".p").glob("*.o"))
    found = []
    for one in objects:
        symbols = subprocess.run(["readelf", "-W", "--syms", one], capture_output=True, text=True, check=True).stdout
        if re.search(r" UND __cxa_(thread_)?atexit$", symbols, re.MULTILINE):
            found.append(one)
    return objects, found


def main():
    checked = 0
    wrong = []
    for library in sys.argv[1:]:
        objects, found = registering(library)
        checked += len(objects)
        wrong += [f"{one} has a static object with a destructor, which must be a detail::immortal" for one in found]
        if not objects:
            wrong.append(f"{library} has no object files in {library}.p")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"none of {checked} object files registers a destructor")


if __name__ == "__main__":
    main()
