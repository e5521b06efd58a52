#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the installed files: they must have been compiled and linked with the hardening options of meson.build.

Usage: hardening_test.py ARGUMENTS FILE...   ARGUMENTS: the requested compiler and linker options, separated by spaces. FILE: a program,
a shared library, or an archive, whose objects say whether they support shadow stacks: the linker drops that mark if the compiler's own
objects lack it, as on Debian 12.
"""
import re
import subprocess
import sys


def told(option, file):
    return subprocess.run(["readelf", "-W", option, file], capture_output=True, text=True, check=True).stdout


def of_archive(arguments, file):
    """Describes what the objects of an archive lack."""
    objects = re.split(r"(?m)^File: ", told("--notes", file))[1:]
    marked = sum("SHSTK" in one for one in objects)
    if "-fcf-protection=return" in arguments and (marked < len(objects) or not objects):
        yield f"has {len(objects)} objects, of which {marked} support shadow stacks"


def of_linked(arguments, file):
    """Describes what a program or shared library lacks."""
    symbols = told("--dyn-syms", file)
    segments = told("--segments", file)
    if any(one.startswith("-fstack-protector") for one in arguments) and " __stack_chk_fail@" not in symbols:
        yield "has no stack protector"
    if "-D_FORTIFY_SOURCE=2" in arguments and "libchorale.so" in file and not re.search(r" __(?!stack)\w+_chk@", symbols):
        yield "checks no lengths of copies (_FORTIFY_SOURCE)"
    if "-Wl,-z,now" in arguments and not re.search(r"\(FLAGS_1\) .*\bNOW\b", told("--dynamic", file)):
        yield "binds functions when they are first called (-z now)"
    if "-Wl,-z,relro" in arguments and "GNU_RELRO" not in segments:
        yield "keeps relocated data writable (-z relro)"
    if "-Wl,-z,noexecstack" in arguments and not re.search(r"GNU_STACK .* RW ", segments):
        yield "has a stack that can be executed"


def main():
    arguments = sys.argv[1].split()
    wrong = [f"{file} {what}" for file in sys.argv[2:] for what in (of_archive if file.endswith(".a") else of_linked)(arguments, file)]
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{len(sys.argv) - 2} files have what {' '.join(arguments)} gives them")


if __name__ == "__main__":
    main()
