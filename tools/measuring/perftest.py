# SPDX-License-Identifier: Apache-2.0
"""perftest on soft0 beside what the machine can do at the least, all in turns in one run; medians over the rounds.

  tools/measure perftest --build build [--rounds 5] [--cores 0,1] [ib_write_lat ib_write_bw]

Latency: perftest's t_typical (half a round trip, 8 bytes) beside a flag that two pinned processes pass to and fro.
Bandwidth: perftest's average beside memcpy of as many bytes (tools/measure floor). Both processes of a program are pinned as well.
"""
import re
import sys

from measuring import floor, medians, options, pages, process, programs, trees

sys.path.insert(0, str(trees.ROOT / "tests" / "third_party"))

import runner  # noqa: E402

LATENCY = [("ib_write_lat", ""), ("ib_write_lat", "-c UC"), ("ib_send_lat", ""), ("ib_send_lat", "-c UC"),
           ("ib_send_lat", "-c UD"), ("ib_read_lat", ""), ("ib_atomic_lat", "")]
BANDWIDTH = ["ib_write_bw", "ib_send_bw", "ib_read_bw"]
SIZES = [65536, 1048576]
PROGRAMS = sorted({program for program, _ in LATENCY} | set(BANDWIDTH))


def add_options(parser):
    """Adds the options of this subcommand."""
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=f"{', '.join(PROGRAMS)} (default: all)")
    options.add_build(parser)
    options.add_rounds(parser, 5)
    options.add_cores(parser)
    options.add_page(parser)


class Pinned(runner.Setup):
    """Runs the server on one core and the client on the other."""

    def __init__(self, build, cores):
        super().__init__(build)
        self.cores = cores

    def place(self, side):
        return ["taskset", "-c", str(self.cores[side])]


def figures(setup, program, *words):
    """The numbers in the last line of a program's output. @throws Refused"""
    result = runner.run_pair(setup, {}, program, list(words), None)
    if result.state != "works":
        raise process.Refused(f"{program} {' '.join(words)} {result.text()}")
    rows = re.findall(r"^\s*\d+\s+\d+\s+[\d. \t]+$", result.output, re.M)
    if not rows:
        raise process.Refused(f"{program} printed no figures:\n{result.output[-2000:]}")
    return rows[-1].split()  # of the client, whose output comes last


def latency(setup, program, more):
    """The latency in nanoseconds."""
    size = [] if "atomic" in program else ["-s", "8"]
    return float(figures(setup, program, *more.split(), *size, "-n", "20000")[4]) * 1000


def bandwidth(setup, program, size):
    """The bandwidth in MB/s (1e6 bytes)."""
    return float(figures(setup, program, "-s", str(size), "-n", "2000", "--report_gbits")[3]) * 1000 / 8


def run(chosen):
    """Prints the tables. @returns the exit status"""
    unknown = [name for name in chosen.programs if name not in PROGRAMS]
    if unknown:
        chosen.parser.error(f"no such program: {unknown[0]}; there are {', '.join(PROGRAMS)}")
    for name in ("chorale-soft", "../lib/preload/libchorale-soft.so"):
        programs.program(chosen.build, name)
    setup = Pinned(str(chosen.build.resolve()), chosen.cores)
    fast = [(program, more) for program, more in LATENCY if program in (chosen.programs or PROGRAMS)]
    wide = [(program, size) for size in SIZES for program in BANDWIDTH if program in (chosen.programs or PROGRAMS)]
    samples = medians.Samples()
    for _ in range(chosen.rounds):
        for program, more in fast:
            samples.add({"flag": floor.flag(chosen.build, chosen.cores), (program, more): latency(setup, program, more)})
        if wide:
            samples.add(floor.copies(chosen.build, chosen.cores[0], SIZES))
        samples.add({(program, size): bandwidth(setup, program, size) for program, size in wide})
    return pages.show(chosen.page, lines(samples, fast, wide))


def lines(samples, fast, wide):
    """Both tables, if they have rows."""
    if fast:
        least = samples.median("flag")
        yield from (pages.head("one way, 8 B", "ns", "ratio to the floor"), pages.cells("flag in shared memory (the floor)", f"{least:.0f}", 1))
        for program, more in fast:
            typical = samples.median((program, more))
            yield pages.cells(f"`{(program + ' ' + more).strip()}`", f"{typical:.0f}", f"{typical / least:.2f}")
    if fast and wide:
        yield ""
    if wide:
        yield pages.head("bandwidth", "bytes", "MB/s", "memcpy", "ratio")
    for program, size in wide:
        got, copy = samples.median((program, size)), samples.median(size)
        yield pages.cells(f"`{program}`", size, f"{got:.0f}", f"{copy:.0f}", f"{got / copy:.2f}")
