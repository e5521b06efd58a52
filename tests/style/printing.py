#!/usr/bin/env python3
"""Checks that the library and its programs print only by chorale::say(), which shows as `\\x1b` what a terminal would obey.

Usage: printing.py ROOT. What is printed may have come from the environment, a file, another process or a peer. Literals may be
printed otherwise. Prints each offence as `file:line: what`; exit status 1 if there is one.
"""
import re

from tree import run, sources

PRINTS = re.compile(r"(?<![\w.>])(?:fmt::v?print\s*\(|std::(?:cout|cerr|clog)\b|(?:std::)?(?:v?f?d?printf|putchar|fputc|fwrite|perror|v?warnx?)\s*\("
                    r"|(?:std::)?f?puts\s*\((?!\s*(?:R?\"|\w+ \? \")))")

# Each file that may, and why.
EXEMPT = {
    "lib/core/printable.cpp": "it is what all others print by",
    "include/chorale/bench.hpp": "programs compile it, by detail::printable_text",
    "tools/parsing.hpp": "it writes what detail::printable_text returns",
    "tools/bench/plotter.cpp": "to the standard input of chorale-plot",
    "tools/bench/replaced_file.cpp": "to a file",
    "tools/measuring/counted/calls.cpp": "a literal",
    "tools/measuring/counted/plans.cpp": "a literal",
    "tools/lab/tsc_khz.cpp": "a number, by a program that needs neither Chorale nor fmt",
}


def files(root):
    return sources(root, "include", "lib", "tools")


def offences(root, exempt=None):
    """Every other way of printing, and every exemption that nothing needs, as lines of text."""
    exempt = EXEMPT if exempt is None else exempt
    found = []
    needed = set()
    for file in files(root):
        for number, line in enumerate((root / file).read_text(encoding="utf-8").splitlines(), 1):
            prints = PRINTS.search(line.split("//")[0])
            if prints and str(file) in exempt:
                needed.add(str(file))
            elif prints:
                found.append(f"{file}:{number}: {prints.group().strip('( ')} prints what a terminal may obey; use chorale::say() of "
                             "lib/core/printable.hpp")
    return found + [f"{file}: is exempt in tests/style/printing.py and need not be" for file in sorted(set(exempt) - needed)]


if __name__ == "__main__":
    run(offences, files, "files of the library and its programs")
