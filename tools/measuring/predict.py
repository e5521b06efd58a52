# SPDX-License-Identifier: Apache-2.0
"""What chorale-sim predicts of this machine, beside what chorale-bench measures: each algorithm at each size.

  tools/measure predict                         calibrates, predicts and measures, on 2 ranks
  tools/measure predict --ranks 8 allreduce     one operation on more ranks than there may be cores
  tools/measure predict --machine mine.json     with a machine that has been calibrated before

A machine is calibrated from facts of one host and of messages between two ranks (chorale-points calibrate), never from
a collective operation. How far predictions are off is no failure.
"""
import pathlib
import statistics
import tempfile

from measuring import medians, options, pages, programs

OPERATIONS = ("barrier", "broadcast", "reduce", "allreduce", "allgather", "alltoall", "gather", "scatter", "reduce_scatter", "scan")
# Ranks are bound to cores round-robin, as in the simulation: the system may distribute them unevenly.
DEALT = ("--oversubscribe", "--map-by", "core", "--bind-to", "core:overload-allowed")


def add_options(parser):
    """Adds the options of this subcommand."""
    parser.add_argument("operations", nargs="*", metavar="OPERATION", help="default: all but exchange")
    parser.add_argument("--ranks", type=options.count, default=2)
    parser.add_argument("--sizes", default="8,1K,16K,256K")
    parser.add_argument("--transport", default="rc")
    options.add_rounds(parser, 3, "--runs", "of calibration and chorale-bench, whose medians are taken")
    parser.add_argument("--machine", metavar="FILE", help="instead of calibrating")
    options.add_build(parser)
    parser.add_argument("--markdown", action="store_true", help="the table as Markdown")


def times(*command):
    """{(operation, algorithm, bytes): microseconds} of a benchmark run."""
    return {(row["operation"], row["algorithm"], row["bytes"]): row["median"] for row in programs.rows(*command)}


def run(chosen):
    """Predicts and measures. @returns the exit status"""
    sim, bench, points = (programs.program(chosen.build, f"chorale-{name}") for name in ("sim", "bench", "points"))
    same = [*(chosen.operations or OPERATIONS), "--sizes", chosen.sizes, "--algorithms", "--transport", chosen.transport]
    ranks = str(chosen.ranks)
    predicted, measured = medians.Samples(), medians.Samples()
    with tempfile.TemporaryDirectory(prefix="measure-") as folder:
        machine = chosen.machine or str(pathlib.Path(folder) / "here.json")
        # Calibrated again before each run, since the speed of a shared machine varies.
        for number in range(chosen.runs):
            if not chosen.machine:
                programs.run(*programs.launched(2, "--oversubscribe", "--bind-to", "core"), points, "calibrate", "--machine", machine)
            measured.add(times(*programs.launched(chosen.ranks, *DEALT), bench, "--samples", "30", "--budget", "0.06", *same))
            if number == 0 or not chosen.machine:
                predicted.add(times(sim, "--machine", machine, "--ranks", ranks, "--ranks-per-host", ranks, *same))
    show(chosen, predicted, measured)
    return 0


def show(chosen, predicted, measured):
    """Prints the table of the medians, and the number of close predictions."""
    head = ("operation", "algorithm", "bytes", "predicted, us", "measured, us", "error")
    line = pages.cells if chosen.markdown else "{:<15} {:<26} {:>8} {:>12} {:>12} {:>8}".format
    print(pages.head(*head, words=2) if chosen.markdown else line(*head))
    errors = []
    for key in predicted:
        # Simulated ranks do not share memory, so these algorithms behave differently there.
        if key not in measured or key[1] in ("standard", "last_arriver", "last_arriver_reads"):
            continue
        guess, truth = predicted.median(key), measured.median(key)
        errors.append(guess / truth - 1)
        print(line(*key, f"{guess:.2f}", f"{truth:.2f}", f"{100 * errors[-1]:+.0f}%"))
    if not errors:
        print("\nnothing that was predicted was measured as well")
        return
    within = sum(abs(error) <= 0.25 for error in errors)
    print(f"\n{within} of {len(errors)} predictions are within 25 %; the median error is {100 * statistics.median(map(abs, errors)):.0f} %.")
