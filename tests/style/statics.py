#!/usr/bin/env python3
"""Checks that nothing of the library has static or thread_local storage and a destructor.

Usage: statics.py BUILD. A static object of the program that is older is destroyed later, and may then use the library. What
must not be destroyed is a `detail::immortal` (lib/core/immortal.hpp). Looks in the objects of the
library, and of examples, which have what headers define, for what is registered to be destroyed. Prints each offence;
exit status 1 if there is one, 77 where it cannot look.
"""
import pathlib
import re
import subprocess
import sys

from tree import need

REGISTERS = ("__cxa_atexit", "__cxa_thread_atexit")
# Each destructor that may be registered, and why.
MAY = {
    "chorale::detail::operator_entry::~operator_entry()": "a plug-in that is unloaded must take its operators' names along; "
                                                          "afterwards an error has no name",
    "chorale::background::mine()::at_end::~at_end()": "a thread that ends must let go of calls that outlive it; the list stays",
}
FUNCTION = re.compile(r"^[0-9a-f]+ <(.*)>:$")
TARGET = re.compile(r"# [0-9a-f]+ <(.*~.*)>$")
RELOCATION = re.compile(r"\bR_\S+\s+(.*?)(?:[-+]0x[0-9a-f]+)?$")
NEAR = 12  # lines before the call in which its arguments are


def registrations(text):
    """(enclosing function, symbols that the arguments name) of each registration in the output of objdump -drC."""
    function = ""
    lines = []
    for line in text.splitlines():
        if match := FUNCTION.match(line):
            function, lines = match.group(1), []
        elif match := TARGET.search(line):
            lines.append((len(lines), match.group(1)))
        elif match := RELOCATION.search(line):
            symbol = match.group(1)
            if symbol.split("@")[0] in REGISTERS:
                yield function, [s for number, s in lines[-NEAR:]]
            lines.append((len(lines), symbol))


def offences(text, may, is_library):
    """The registrations that there should not be, as lines of text; adds what was needed to `may`."""
    found = []
    for function, symbols in registrations(text):
        destructors = [symbol for symbol in symbols if "::~" in symbol]
        permitted = [d for d in destructors[-1:] if d in MAY]
        if permitted:
            may.update(permitted)
        elif is_library or "chorale::" in function or any("chorale::" in d for d in destructors[-1:]):
            found.append(f"{function}: registers {destructors[-1] if destructors else 'something'} for the end of the process or thread")
    return found


def main():
    need("objdump")
    need("nm")
    build = pathlib.Path(sys.argv[1])
    found = []
    needed = set()
    number = 0
    for folder in "lib", "examples":
        for file in sorted((build / folder).rglob("*.o")):
            number += 1
            undefined = subprocess.run(["nm", "-u", file], capture_output=True, text=True, check=True).stdout
            if not any(name in undefined for name in REGISTERS):
                continue
            text = subprocess.run(["objdump", "-drC", "--no-show-raw-insn", file], capture_output=True, text=True, check=True).stdout
            for one in offences(text, needed, folder == "lib"):
                found.append(f"{file.relative_to(build)}: {one}")
    if number == 0:
        sys.exit(f"no objects below {build}/lib")
    print("\n".join([*found, f"{number} objects, {len(found)} offences"]))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
