#!/usr/bin/env python3
"""Checks that algorithms look at the bytes of a message only through the functions which check their number, and that
objects become messages only through detail::bytes_of, which takes none with padding.

Usage: messages.py ROOT. `transfer.hpp` and `agreed.hpp` of include/chorale/algorithm have those functions: they alone may
call `bytes()` of a message. bytes_of is in include/chorale/core/sendable.hpp. Prints each offence as `file:line: what`; exit status 1 if there is one.
"""
import pathlib
import re

from tree import library, run, sources

FOLDER = pathlib.Path("include/chorale/algorithm")
CHECKED = {"transfer.hpp", "agreed.hpp"}
RAW = re.compile(r"(\.|->)\s*bytes\s*\(\s*\)")
SENDER = pathlib.Path("include/chorale/core/sendable.hpp")
OBJECT = re.compile(r"\bas_bytes\s*\(\s*(std::)?span\s*\{\s*(&|this\b)")


def offences(root):
    """Every line that takes bytes from a message, or those of an object, unchecked, as lines of text."""
    found = [f"{file}:{number}: sends the bytes of an object, padding and all; use detail::bytes_of"
             for file in library(root) if file != SENDER
             for number, line in enumerate((root / file).read_text(encoding="utf-8").splitlines(), 1) if OBJECT.search(line.split("//")[0])]
    for file in sources(root, FOLDER):
        if file.parent == FOLDER and file.name in CHECKED:
            continue
        for number, line in enumerate((root / file).read_text(encoding="utf-8").splitlines(), 1):
            if RAW.search(line.split("//")[0]):
                found.append(f"{file}:{number}: takes bytes() of a message as they come; use transfer::place, "
                             "transfer::exact or agreed::open, which check how many they are")
    return found


if __name__ == "__main__":
    run(offences, lambda root: sources(root, FOLDER), "headers of algorithms")
