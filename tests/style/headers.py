#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles each public header as if it were alone, included twice, with the project's flags and warnings as errors.

Usage: headers.py ROOT BUILD. Prints the compiler's errors for each header that fails; exit status 1 if one does.

Headers that a header includes anyway may precede it without hiding an error: a chain of headers, each of which includes the previous
one, makes one translation unit, and headers that many others include are precompiled. So a third of the compilations suffices, and most
of these are short.
"""
import concurrent.futures
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from project_compiler import compile_command, precompile  # noqa: E402
import tree  # noqa: E402

# The number of headers that are precompiled, and the least number of headers that must share each.
BASES = 4
FOR_AT_LEAST = 8


def closures(include):
    """{header: all headers below `include` that it includes, directly or indirectly}."""
    found = {file: tree.closure(include.parent, [file]) - {file} for file in tree.sources(include.parent, "include")}
    return {str(file.relative_to("include")): {str(one.relative_to("include")) for one in others if one in found} for file, others in found.items()}


def chains(closure):
    """The minimum number of chains of headers, each including the one before it: a maximum matching of headers with successors."""
    before = {}

    def extend(name, tried):
        for other in closure:
            if name in closure[other] and other not in closure[name] and other not in tried:
                tried.add(other)
                if other not in before or extend(before[other], tried):
                    before[other] = name
                    return True
        return False

    for name in closure:
        extend(name, set())
    after = {name: other for other, name in before.items()}
    found = []
    for name in closure:
        if name not in before:
            found.append([name])
            while found[-1][-1] in after:
                found[-1].append(after[found[-1][-1]])
    return found


def groups(closure):
    """(base, closure of its members) for each header worth precompiling, and for None, with the remaining headers."""
    found, left = [], set(closure)
    for _ in range(BASES):
        members = {base: {name for name in left if base in closure[name]} for base in closure}
        base = max(closure, key=lambda name: len(members[name]) * (len(closure[name]) + 1), default=None)
        if base is None or len(members[base]) < FOR_AT_LEAST:
            break
        found.append((base, members[base]))
        left -= members[base]
    return [(base, {name: closure[name] & names for name in sorted(names)}) for base, names in [*found, (None, left)]]


def check(command, folder, chain):
    """The compiler's errors for a program that only includes these headers, each twice; empty if there are none."""
    program = "".join(f"#include <{header}>\n" * 2 for header in chain)
    done = subprocess.run([*command, "-Werror", "-fsyntax-only", "-x", "c++", "-"], cwd=folder, input=program,
                          text=True, capture_output=True, check=False)
    return done.stderr if done.returncode else ""


def complaints(command, folder, chain, base):
    """(header, errors) of each header of the chain that does not compile alone. `base`: options that include their common headers first."""
    together = check([*command, *base], folder, chain)
    if not together:
        return []
    alone = [(header, said) for header in chain if (said := check(command, folder, [header]))]
    return alone or [(" and ".join(chain), together)]


def failures(include, command, folder, jobs=2):
    """((header, errors) of each header below `include` that does not compile alone, number of headers)."""
    closure = closures(include)
    with tempfile.TemporaryDirectory(prefix="chorale-headers-") as work, concurrent.futures.ThreadPoolExecutor(jobs) as pool:

        def of_group(numbered):
            number, (base, members) = numbered
            text = f"#include <{base}>\n"
            given = precompile(command, folder, text, pathlib.Path(work) / str(number)) if base else []
            return [(chain, given) for chain in chains(members)]

        work_list = [one for some in pool.map(of_group, enumerate(groups(closure))) for one in some]
        found = pool.map(lambda one: complaints(command, folder, *one), work_list)
        return sorted(pair for pairs in found for pair in pairs), len(closure)


def main():
    include = pathlib.Path(sys.argv[1]).resolve() / "include"
    command, folder = compile_command(sys.argv[2])
    failed, total = failures(include, command, folder)
    for header, complaint in failed:
        print(f"--- {header} does not compile alone:\n{complaint}")
    print(f"{total} headers, {len(failed)} do not compile alone")
    sys.exit(1 if failed or not total else 0)


if __name__ == "__main__":
    main()
