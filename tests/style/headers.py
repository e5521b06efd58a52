#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles each public header as if it were alone, twice included, with the project's flags and warnings as errors.

Usage: headers.py ROOT BUILD. Prints what the compiler says of each header that fails; exit status 1 if one does.

What a header includes anyway may come before it and tells as much: headers of which each includes the one before make one
translation unit, and what many of them include is precompiled for them. A third of the compilations is then enough, and
most of these are short.
"""
import concurrent.futures
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from project_compiler import compile_command, precompile  # noqa: E402
import tree  # noqa: E402

# That few headers are precompiled, each for as many others at least.
BASES = 4
FOR_AT_LEAST = 8


def closures(include):
    """{header: the headers below `include` that it includes, by any number of steps}."""
    found = {file: tree.closure(include.parent, [file]) - {file} for file in tree.sources(include.parent, "include")}
    return {str(file.relative_to("include")): {str(one.relative_to("include")) for one in others if one in found} for file, others in found.items()}


def chains(closure):
    """The headers in as few chains as can be, each including the one before it: a greatest matching of headers with next ones."""
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
    """(base, closure of its members) for each header that is worth being precompiled, and for None, which has the others."""
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
    """The compiler's complaint about a program that is nothing but these headers, each twice; empty if it has none."""
    program = "".join(f"#include <{header}>\n" * 2 for header in chain)
    done = subprocess.run([*command, "-Werror", "-fsyntax-only", "-x", "c++", "-"], cwd=folder, input=program,
                          text=True, capture_output=True, check=False)
    return done.stderr if done.returncode else ""


def complaints(command, folder, chain, base):
    """(header, complaint) of each header of the chain that does not compile alone; `base`: options that include first what all of them do."""
    together = check([*command, *base], folder, chain)
    if not together:
        return []
    alone = [(header, said) for header in chain if (said := check(command, folder, [header]))]
    return alone or [(" and ".join(chain), together)]


def failures(include, command, folder, jobs=2):
    """(header, complaint) of each header below `include` that does not compile alone, and their number in all."""
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
