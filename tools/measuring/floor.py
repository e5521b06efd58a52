# SPDX-License-Identifier: Apache-2.0
"""What this machine can do at the least: a flag in shared memory between two processes, and memcpy.

  tools/measure floor --build build [--rounds 5] [--cores 0,1] [--sizes 65536,1048576]

Two processes, each kept on a core, pass a flag to and fro, each polling a cache line that the other writes (chorale-bench --floor): no message is
faster. The bandwidth is that of memcpy between whole pages (chorale-points registration). Medians over the rounds.
"""
from measuring import medians, options, pages, programs

SIZES = "65536,1048576"
QUICK = ("--samples", "30", "--budget", "0.1")


def add_options(parser):
    """Adds the options of this subcommand."""
    options.add_build(parser)
    options.add_rounds(parser, 5)
    options.add_cores(parser)
    parser.add_argument("--sizes", type=options.numbers, default=SIZES, help=f"bytes of the copies, separated by commas (default {SIZES})")
    options.add_page(parser)


def flag(build, cores):
    """The one-way time of a flag in nanoseconds. @throws Refused"""
    own = 'case $OMPI_COMM_WORLD_RANK in 0) core=$1;; *) core=$2;; esac; shift 2; exec taskset -c "$core" "$@"'
    words = [*programs.launched(2, "--oversubscribe", "--bind-to", "none"), "sh", "-c", own, "sh", *map(str, cores)]
    (row,) = programs.rows(*words, programs.program(build, "chorale-bench"), "barrier", "--floor", *QUICK)
    return row["floor"] * 1000


def copies(build, core, sizes):
    """{bytes: MB/s (1e6 bytes) of memcpy}. @throws Refused"""
    found = programs.rows("taskset", "-c", str(core), programs.program(build, "chorale-points"), "registration", "--sizes", ",".join(map(str, sizes)), *QUICK)
    return {row["at"]["bytes"]: row["at"]["bytes"] / row["value"] for row in found if row["contestant"] == "copy"}


def run(chosen):
    """Prints the floors. @returns the exit status"""
    samples = medians.Samples()
    for _ in range(chosen.rounds):
        samples.add({"flag": flag(chosen.build, chosen.cores), **copies(chosen.build, chosen.cores[0], chosen.sizes)})
    lines = [pages.head("floor", "bytes", "", ""), pages.cells("flag in shared memory, one way", 8, f"{samples.median('flag'):.1f}", "ns")]
    lines += [pages.cells("memcpy", size, f"{samples.median(size):.0f}", "MB/s") for size in chosen.sizes]
    return pages.show(chosen.page, lines)
