# SPDX-License-Identifier: Apache-2.0
"""What a rank takes of an adapter, by transport and number of ranks: queue pairs, receives, memory, descriptors.

  tools/measure resources --build build --page docs/resources.md:resources    threads are the ranks
  tools/measure resources --build build --processes 64                        the processes of a job are

By chorale-points resources: measured after alltoalls in which each rank talks to every other, and by formula, alone up to 100,000 ranks.
"""
from measuring import options, pages, programs


def add_options(parser):
    """Adds the options of this subcommand."""
    options.add_build(parser)
    parser.add_argument("--ranks", type=options.numbers, default="2,4,8,16,32,64", help="numbers of threads (default 2,4,8,16,32,64)")
    parser.add_argument("--processes", type=options.count, metavar="N", help="measure N ranks that are processes instead of threads")
    options.add_page(parser)


def run(chosen):
    """Prints the table. @returns the exit status"""
    words = [programs.program(chosen.build, "chorale-points"), "resources", "--ranks", ",".join(map(str, chosen.ranks))]
    if chosen.processes:
        words = [*programs.launched(chosen.processes), *words]
    said = programs.run(*words)
    return pages.show(chosen.page, said[said.index("| transport"):].splitlines())
