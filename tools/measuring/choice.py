# SPDX-License-Identifier: Apache-2.0
"""What a communicator takes by its own choice beside the fastest of the library's algorithms, in virtual time.

  tools/measure choice                                            on machines that no table has seen
  tools/measure choice --machine clan2003 --ranks 5,16 alltoall   on one, one operation

Each row is an operation, a machine, a number of ranks and a size. Without --trials the choice is that of the built-in table for adapters, as it is for
the first call; with it the calls before the measured ones are a trial, as they are by default (auto). Sums have the bits that they have by default, unless
--trials is `all`: then algorithms that combine in another order than that of the ranks take part, here and there.

Exit status 1 if fewer than 95 % of the rows are within 10 %.
"""
import collections

from measuring import options, pages, process, programs

OPERATIONS = ("barrier", "broadcast", "reduce", "allreduce", "allgather", "alltoall", "gather", "scatter", "reduce_scatter", "scan")
# Algorithms that only programs that name them use.
NAMED = {"multicast", *(f"{name}_multicast<{degree}>" for name in ("gather", "reduce") for degree in (1, 3, 7, 15))}
# Algorithms that combine in another order than that of the ranks.
UNORDERED = {"reduce_scatter": {"recursive_halving", "circulant"}, "allreduce": {"ring"}}
BOUND = 1.1
WANTED = 0.95


def add_options(parser):
    """Adds the options of this subcommand."""
    parser.add_argument("operations", nargs="*", metavar="OPERATION", help="default: all but exchange")
    parser.add_argument("--machine", default="ndr-64core", help="names or files, with commas between (default: %(default)s)")
    parser.add_argument("--ranks", type=options.numbers, default="5,16")
    parser.add_argument("--ranks-per-host", type=options.count, default=1)
    parser.add_argument("--sizes", default="64,4K,40K")
    parser.add_argument("--trials", choices=("off", "auto", "all"), default="off")
    options.add_build(parser)


def rows_of(chosen, machine, ranks):
    """{(operation, bytes): {algorithm: microseconds}}, in virtual time."""
    sim = programs.program(chosen.build, "chorale-sim")
    found = collections.defaultdict(dict)
    for row in programs.rows(sim, *(chosen.operations or OPERATIONS), "--machine", machine, "--ranks", str(ranks), "--ranks-per-host",
                             str(chosen.ranks_per_host), "--sizes", chosen.sizes, "--algorithms", "--transport", "rc",
                             variables={"CHORALE_TRIALS": chosen.trials}):
        found[row["operation"], row["bytes"]][row["algorithm"]] = row["median"]
    return found


def run(chosen):
    """Prints the rows beyond the bound, and the number of rows within it. @returns the exit status"""
    print(pages.head("operation", "machine", "ranks", "bytes", "choice, us", "best, us", "", "ratio", words=2))
    total = within = 0
    for machine in chosen.machine.split(","):
        for ranks in chosen.ranks:
            for (operation, size), times in rows_of(chosen, machine, ranks).items():
                mine = times.pop("standard", None)
                for name in NAMED | (UNORDERED.get(operation, set()) if chosen.trials != "all" else set()):
                    times.pop(name, None)
                if mine is None or not times:
                    continue
                best = min(times, key=times.get)
                ratio = mine / times[best]
                total += 1
                within += ratio <= BOUND
                if ratio > BOUND:
                    print(pages.cells(operation, machine, ranks, size, f"{mine:.2f}", f"{times[best]:.2f}", f"`{best}`", f"{ratio:.2f}"), flush=True)
    if not total:
        raise process.Refused("no row has a choice to compare: name an operation with several algorithms, a size that it takes, or more ranks")
    print(f"\n{within} of {total} rows are within {100 * (BOUND - 1):.0f} %: {100 * within / total:.1f} %")
    return 0 if within >= WANTED * total else 1
