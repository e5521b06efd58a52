#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that programs with any macros and functions can include the installed headers, also in libstdc++'s debug mode.

Usage: anyones_program.py ROOT BUILD. Compiles anyones_program.cpp, which makes every call with its own types, after defining macros
of one letter and those of <complex.h>, X11, termios and others. Then lists, by clang if installed, the calls in headers that find
functions by argument-dependent lookup, which qualified calls do not. Prints the errors; exit status 1 if there are any.
"""
import pathlib
import re
import shutil
import string
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from project_compiler import compile_command  # noqa: E402
from tree import includes  # noqa: E402

PROGRAM = pathlib.Path(__file__).resolve().with_suffix(".cpp")
# In the GNU dialect, <complex.h> defines I; debug mode replaces the containers.
ANYONES = ["-std=gnu++20", "-D_GLIBCXX_DEBUG"]
MACROS = [*string.ascii_uppercase, "_", "_B", "_C", "_L", "_N", "_P", "_S", "_U", "_X", "B0", "B50", "Always", "Bool", "Complex",
          "Convex", "Display", "Expose", "False", "Font", "None", "Opposite", "Screen", "Status", "Success", "True", "Unsorted",
          "Visual", "Window", "major", "makedev", "minor", "unix", "linux"]
PLACE = re.compile(r"((?:/|\w+/|\.)[^:<> ,]+):(\d+):\d+|\bline:(\d+):\d+|\bcol:\d+")
FOUND_BY_ARGUMENTS = re.compile(r"\(ADL\) = '(\w+)'")


def installed(include):
    return sorted(str(path.relative_to(include)) for path in include.rglob("*.hpp"))


def names_of_others(include):
    """The text before the program: includes of other libraries' headers, which may use the same names, and then the macros."""
    names = installed(include)
    others = {name for header in names for _, name, _ in includes(include / header)} - set(names)
    return "".join([f"#if __has_include(<{name}>)\n#include <{name}>\n#endif\n" for name in ("complex.h", *sorted(others))] +
                   [f"#undef {name}\n#define {name} {name} is a macro\n" for name in MACROS])


def complaint(include, command, folder, program):
    """The compiler's errors for the program after these names; empty if there are none."""
    text = names_of_others(include) + program
    done = subprocess.run([*command, *ANYONES, "-Werror", "-fsyntax-only", "-x", "c++", "-"], cwd=folder, input=text, text=True,
                          capture_output=True, check=False)
    return done.stderr if done.returncode else ""


def unqualified(include, dump):
    """Calls in headers below `include` that may find a program's function, from the lines of clang's syntax tree."""
    file, line = "", 0
    found = {}
    for text in dump:
        begin = None
        # Locations come before the quoted types, and omit the parts that equal those of the previous location.
        for place in PLACE.finditer(text.partition("'")[0]):
            file, line = place[1] or file, int(place[2] or place[3] or line)
            begin = begin or (file, line)
        name = FOUND_BY_ARGUMENTS.search(text)
        if name and begin and begin[0].startswith(f"{include}/") and not name[1].startswith("operator"):
            found[f"{begin[0]}:{begin[1]}: {name[1]}: qualify the call, or a program's function may be found"] = None
    return list(found)


def tree_of(clang, include, folder):
    """The lines of clang's syntax tree of all headers below `include`."""
    text = "".join(f"#include <{header}>\n" for header in installed(include))
    command = [clang, "-std=c++20", "-fsyntax-only", "-I", str(include), "-Xclang", "-ast-dump", "-Xclang", "-ast-dump-filter=chorale",
               "-fno-color-diagnostics", "-x", "c++", "-"]
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          errors="replace") as compiler:
        compiler.stdin.write(text)
        compiler.stdin.close()
        yield from compiler.stdout
    if compiler.returncode != 0:
        yield from [f"FunctionDecl <{include}/:1:1> (ADL) = 'clang_cannot_compile_the_headers'"]


def main():
    include = pathlib.Path(sys.argv[1]).resolve() / "include"
    command, folder = compile_command(sys.argv[2])
    said = complaint(include, command, folder, PROGRAM.read_text(encoding="utf-8"))
    found = [said] if said else []
    clang = shutil.which("clang++")
    if clang:
        found += unqualified(include, tree_of(clang, include, folder))
    else:
        print("clang++ is not installed (tools/install-dependencies --ci): calls were not looked at")
    print("\n".join([*found, f"{len(installed(include))} headers, {len(found)} complaints"]))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
