# SPDX-License-Identifier: Apache-2.0
"""Compares Chorale with Debian's Open MPI, by its own shared memory and over UCX, with MPICH, and with any other MPI, on this machine: the same loop in
each, in turns, several rounds.

Prints what the machine is, a Markdown table of medians over the rounds, in microseconds of one call, and a summary, for
each number of ranks. Machines are noisy: a comparison counts only within one run. A program that crashes,
hangs or writes what cannot be true is left out of the row, with the reason.

  tools/measure compare --build build -n 2,8 --mpi 'ompi5=/opt/openmpi-5' --mpi 'ucc=/opt/openmpi-5:--mca coll_ucc_enable 1'
  tools/measure compare --build build --choice     # the communicator's own choice beside the other algorithms

Exit status 1 if Chorale itself is left out of a row, or there is no picture.
"""
import argparse
import pathlib
import shlex
import sys

from measuring import mpi, options, pages, process
from measuring.comparison import contestants, machine, picture, report, turns
from plots import program as plotter

OPERATIONS = ("barrier", "broadcast", "reduce", "allreduce", "allgather", "alltoall", "gather", "scatter",
              "reduce_scatter", "scan", "exchange")


def operation(text):
    """An operation of OPERATIONS."""
    if text not in OPERATIONS:
        raise argparse.ArgumentTypeError(f"no such collective: {text}")
    return text


def library(text):
    """The library of an --mpi option."""
    try:
        return mpi.parse(text)
    except ValueError as e:
        raise argparse.ArgumentTypeError(str(e)) from e


def picture_file(option):
    """An option's type that checks whether its picture can be drawn, and written."""
    def file(text):
        try:
            plotter.require(option)
        except plotter.gnuplot.Failed as e:
            raise argparse.ArgumentTypeError(str(e)) from e
        return options.written(text)
    return file


def add_options(parser):
    """Adds the options of this subcommand."""
    parser.add_argument("collectives", nargs="*", type=operation, metavar="COLLECTIVE", help="%s (default: all)" % ", ".join(OPERATIONS))
    parser.add_argument("-n", "--ranks", type=options.numbers, default="2", help="number of ranks, or several with commas between (default 2)")
    parser.add_argument("--mpi", action="append", type=library, default=[], metavar="NAME=PREFIX[:OPTIONS]",
                        help="another MPI, with bin/mpicc and bin/mpirun or bin/mpiexec below PREFIX; OPTIONS go to its launcher; "
                             "may be repeated")
    parser.add_argument("--without", action="append", default=[], choices=mpi.DEBIAN,
                        help="leave one of Debian's out; may be repeated")
    parser.add_argument("--choice", action="store_true",
                        help="compare Chorale's default with Chorale's other algorithms, in the same run, instead of with MPI")
    options.add_rounds(parser, 5)
    parser.add_argument("--sizes", type=options.numbers, default="4,1024,8192,65536,1048576", help="bytes, separated by commas")
    parser.add_argument("--bound", type=float, help="rows with a larger ratio are listed (default 1.05; with --choice 1.1)")
    options.add_build(parser)
    parser.add_argument("--programs", metavar="FOLDER", help="where the programs of --mpi are built (default: tools/ of the build folder)")
    parser.add_argument("--budget", type=options.seconds, default=0.1, help="seconds for one size in one round (default 0.1)")
    parser.add_argument("--time-limit", type=options.seconds, default=120, help="seconds for one run of one program (default 120)")
    parser.add_argument("--csv", type=options.written, metavar="FILE", help="also write a line for each row and contestant here")
    parser.add_argument("--json", type=options.written, metavar="FILE", help="also write all rounds here")
    parser.add_argument("--plot", type=picture_file("plot"), metavar="FILE", help="also draw time and bandwidth over the size here, an SVG; needs gnuplot")
    parser.add_argument("--report", type=picture_file("report"), metavar="FILE",
                        help="also write tables, plots and what the machine is as one page of HTML, which needs no other file; needs gnuplot and Jinja2")
    options.add_page(parser)


def check(chosen):
    """Completes the options; exits with status 2 if they contradict each other."""
    if chosen.bound is None:
        chosen.bound = 1.1 if chosen.choice else 1.05
    if chosen.choice and (chosen.mpi or chosen.without):
        chosen.parser.error("--choice compares Chorale's own algorithms: leave --mpi and --without out")
    names = [contestants.CHORALE, *mpi.DEBIAN, *(one.name for one in chosen.mpi)]
    taken = next((name for name in names if names.count(name) > 1), None)
    if taken:
        chosen.parser.error(f"--mpi: the name {taken} is taken; give each library one of its own")
    chosen.command = shlex.join(["tools/measure", *sys.argv[1:]])


def show(text):
    """Shows a progress line on a terminal, which the next one overwrites."""
    if sys.stderr.isatty():
        print(text.ljust(70), end="\r", file=sys.stderr, flush=True)


def run(chosen):
    """Measures, prints, and writes the files. @returns the exit status"""
    check(chosen)
    operations = [one for one in OPERATIONS if not chosen.collectives or one in chosen.collectives]
    # Sizes are multiples of a float, and must be equal for all programs.
    sizes = sorted({max(4, size // 4 * 4) for size in chosen.sizes})
    everyone, missing = contestants.gather(chosen)
    if chosen.page and missing:
        raise process.Refused(f"the page is kept, since a library would be missing: {'; '.join(missing)} (--without leaves one of Debian's out)")
    load = machine.load()
    results = turns.measure(everyone, chosen, operations, sizes, show)
    show("")
    told = [*machine.facts(results), ("load before", load), *machine.versions(everyone, results)]
    pages.show(chosen.page, report.markdown(chosen, everyone, results, told, missing, operations, sizes))
    for file, text in ((chosen.csv, lambda: report.as_csv(results, told)),
                       (chosen.json, lambda: report.as_json(chosen, results, told, missing))):
        if file:
            pathlib.Path(file).write_text(text(), encoding="utf-8")
    wrong = picture.draw(chosen, results, told) if chosen.plot or chosen.report else ""
    if wrong:
        print(f"tools/measure compare: {wrong}", file=sys.stderr)
    return 1 if wrong or any(name == contestants.CHORALE for _, name in results.refused) else 0
