# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions of calls on two ranks before and after a change, over each transport; or those of plans.

  tools/measure instructions [--calls N] [--runs N] [--limit PERCENT] [--in FOLDER] [--transports LIST] BASE [NEW]
  tools/measure instructions --plans [--calls N] [--runs N] [--in FOLDER] [--library FOLDER]

BASE and NEW are commits; without NEW it is this tree as it is, what is not committed included: leave it alone meanwhile. The files of a
commit are written to a folder of its own below FOLDER (build/count), and its library is built there with -O3 -DNDEBUG, then
tools/measuring/counted/calls.cpp of that commit. What is built stays, so that the next count is quick: BASE takes some
minutes once, less with CXX="ccache g++".

The program runs under callgrind, both ranks on one core; a figure is the mean of a call of both ranks together, the least of N runs (3), since
a rank may look for a message once more or less. What costs more by more than PERCENT (1) is marked, and the exit status is then 1. Needs valgrind and
its headers.

--plans: of this tree, each call over rc plainly, nonblocking, and by a plan (`run()`, and `start()` with `wait()`), by
tools/measuring/counted/plans.cpp. With the library of this tree in --library, if there is one, else with one that is built as above.
"""
import pathlib
import re

from measuring import callgrind, medians, options, pages, trees

TRANSPORTS = "rc,rc_send_receive,ud,ud_rdma,hybrid"
DEARER = " **dearer**"


def add_options(parser):
    """Adds the options of this subcommand."""
    parser.add_argument("base", nargs="?")
    parser.add_argument("new", nargs="?")
    parser.add_argument("--plans", action="store_true")
    parser.add_argument("--library", type=pathlib.Path)
    parser.add_argument("--calls", type=options.count, default=2000)
    options.add_rounds(parser, 3, "--runs", "whose least counts")
    parser.add_argument("--limit", type=float, default=1)
    parser.add_argument("--in", dest="folder", type=pathlib.Path, default=trees.ROOT / "build" / "count")
    parser.add_argument("--transports", default=TRANSPORTS)


def built(tree, release, source):
    """The program of a tree, linked with the library built in `release`."""
    return trees.linked(tree, trees.built(tree, release), release / pathlib.Path(source).stem, source)


def counted(program, transport, calls):
    """Instructions of each call, by operation and bytes. @throws Refused"""
    return {(name, int(size)): int(re.search(r"^totals: (\d+)", text, re.M)[1]) / int(number)
            for (name, size, number), text in callgrind.dumps(program, transport, calls, before=("taskset", "-c", "0")).items()}


def least(program, transport, chosen):
    """The minimum over all runs."""
    samples = medians.Samples()
    for _ in range(chosen.runs):
        samples.add(counted(program, transport, chosen.calls))
    return {what: min(values) for what, values in samples.items()}


def plans(chosen):
    """Prints the table of --plans. @returns the number of calls that are dearer"""
    if chosen.library:
        program = trees.linked(trees.ROOT, chosen.library.resolve() / "libchorale.so", chosen.folder.resolve() / "plans", "plans.cpp")
    else:
        program = built(trees.ROOT, chosen.folder / "here", "plans.cpp")
    figures = least(program, "rc", chosen)
    print(pages.head("call", "bytes", "plain", "nonblocking", "`run()`", "`start()`, `wait()`", "`run()` / plain", "`start()`, `wait()` / nonblocking"))
    dearer = 0
    for size, call in sorted({(size, name.rsplit("_", 1)[0]) for name, size in figures}):
        plain, nonblocking, run_, start = (figures[f"{call}_{form}", size] for form in ("plain", "nonblocking", "run", "start"))
        is_dearer = run_ > plain * (1 + chosen.limit / 100) or start > nonblocking * (1 + chosen.limit / 100)
        dearer += is_dearer
        print(pages.cells(call, size, f"{plain:.0f}", f"{nonblocking:.0f}", f"{run_:.0f}", f"{start:.0f}", f"{run_ / plain:.3f}",
                          f"{start / nonblocking:.3f}") + DEARER * is_dearer)
    return dearer


def commits(chosen):
    """Prints the table of two states of the tree. @returns the number of calls that are dearer"""
    base, old_tree = trees.unpacked(chosen.base, chosen.folder)
    new, new_tree = trees.unpacked(chosen.new, chosen.folder) if chosen.new else ("here", trees.ROOT)
    before = built(old_tree, old_tree / "release", "calls.cpp")
    after = built(new_tree, new_tree / "release" if chosen.new else chosen.folder / "here", "calls.cpp")
    print(pages.head("transport", "call", "bytes", base, new, "%", words=2))
    dearer = 0
    for transport in chosen.transports.split(","):
        old, now = least(before, transport, chosen), least(after, transport, chosen)
        for what in sorted(old, key=lambda w: (w[1], w[0])):
            change = 100 * (now[what] / old[what] - 1)
            is_dearer = change > chosen.limit
            dearer += is_dearer
            print(pages.cells(transport, *what, f"{old[what]:.0f}", f"{now[what]:.0f}", f"{change:+.1f}{DEARER * is_dearer}"), flush=True)
    print(f"\n{dearer or 'no'} call{'s are' if dearer > 1 else ' is'} dearer by more than {chosen.limit:g} %")
    return dearer


def run(chosen):
    """Prints the table. @returns the exit status"""
    if not chosen.plans and chosen.base is None:
        chosen.parser.error("BASE is missing")
    chosen.folder.mkdir(parents=True, exist_ok=True)
    return 1 if (plans if chosen.plans else commits)(chosen) else 0
