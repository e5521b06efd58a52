#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the programs of README.md and runs the first as README.md says; each must print what stands there.

Usage: program_test.py BUILD LIBRARY_FOLDER. The compiler and flags are the build's. Exit status 77 (skipped) with the
reason where there is no Open MPI mpirun.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE.parent / "multirank")]
import launch  # noqa: E402
from markdown_blocks import blocks  # noqa: E402
from project_compiler import compile_command  # noqa: E402

COMMAND = re.compile(r"^\$ mpirun (?:--[\w-]+ )*-n (\d+) \./(\w+)\n(.*)", re.DOTALL)


def as_program(code):
    """Statements become the body of a function, which is only compiled."""
    if "int main" in code:
        return code
    return "#include <chorale/chorale.hpp>\nvoid statements() {\n" + code + "}\n"


def main():
    launcher = launch.required()
    command, folder = compile_command(sys.argv[1])
    library = pathlib.Path(sys.argv[2]).resolve()
    page = blocks((ROOT / "README.md").read_text(encoding="utf-8"))
    codes = [block.text for block in page if block.language == "cpp"]
    terminals = [block.text for block in page if block.language == ""]
    ranks, name, expected = COMMAND.match(next(t for t in terminals if COMMAND.match(t))).groups()
    with tempfile.TemporaryDirectory(prefix="chorale-readme-") as place:
        for number, code in enumerate(codes):
            source = pathlib.Path(place) / f"{name}{number}.cpp"
            source.write_text(as_program(code), encoding="utf-8")
            ending = ["-o", str(pathlib.Path(place) / name), f"-L{library}", "-lchorale", "-lfmt",
                      f"-Wl,-rpath,{library}"] if number == 0 else ["-fsyntax-only"]
            print(f"README.md, program {number + 1}:\n{as_program(code)}", flush=True)
            subprocess.run([*command, str(source), *ending], cwd=folder, check=True)
        status, output = launch.run([*launcher, "-n", ranks, str(pathlib.Path(place) / name)], 60)
    said = output.strip().splitlines()
    print(output)
    if status != 0 or said != expected.strip().splitlines():
        sys.exit(f"exit status {status}; README.md says that it prints:\n{expected}")


if __name__ == "__main__":
    main()
