#!/usr/bin/env python3
"""Checks what a program's translation unit costs: preprocessed lines, and the memory of the compiler without optimization.

Usage: cost.py ROOT COMPILER. The limits are for g++ 12 with libstdc++; other compilers are held to the lines alone. Lines are
those of `g++ -E` that are neither empty nor line markers. Time is not looked at: it is the machine's. Prints each figure with
its limit; exit status 1 if one is above.
"""
import pathlib
import resource
import subprocess
import sys

ALL = "#include <chorale/chorale.hpp>\n"
FOUR_CALLS = """#include <vector>

#include <chorale/communicator.hpp>

int main() {
  chorale::communicator<> comm;
  std::vector<double> data(10);
  comm.broadcast(data);
  comm.allreduce(data);
  std::vector<double> all(10 * static_cast<std::size_t>(comm.size()));
  comm.allgather(data, all);
  comm.barrier();
}
"""
LIMITS = {"all": 70_000, "four calls": 63_000}
MOST_KIB = 252 * 1024


def run(command, program):
    return subprocess.run([*command, "-x", "c++", "-"], input=program, text=True, capture_output=True, check=True).stdout


def count_lines(text):
    """Lines of preprocessed text that are neither empty nor line markers."""
    return sum(1 for line in text.splitlines() if line.strip() and not line.startswith("#"))


def main():
    include = pathlib.Path(sys.argv[1]).resolve() / "include"
    compiler = [sys.argv[2], "-std=c++20", f"-I{include}"]
    figures = [(f"preprocessed lines of {name}", count_lines(run([*compiler, "-E"], program)), LIMITS[name])
               for name, program in (("all", ALL), ("four calls", FOUR_CALLS))]
    if "Free Software Foundation" in run([sys.argv[2], "--version"], ""):
        run([*compiler, "-O0", "-c", "-o", "/dev/null"], FOUR_CALLS)
        figures.append(("KiB of memory to compile four calls", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, MOST_KIB))
    for what, value, limit in figures:
        print(f"{what}: {value}, at most {limit}{'' if value <= limit else ': TOO MUCH'}")
    sys.exit(1 if any(value > limit for _, value, limit in figures) else 0)


if __name__ == "__main__":
    main()
