# SPDX-License-Identifier: Apache-2.0
"""chorale-plot: pictures and pages of the JSON output of Chorale's programs."""
import argparse
import json
import pathlib
import sys

from plots import curves, gnuplot, report, results, timeline

FORMS = {
    "plot": "an SVG with time and bandwidth over the size, of results (--json of chorale-bench, chorale-sim and mpi-peers)",
    "report": "a page of HTML with tables, pictures and the machine, of results",
    "timeline": "an SVG of ranks over time, of a trace (--trace of chorale-sim)",
}


def name_of(file, files):
    """The stem of a file name, or the path if another file has the same stem; empty for a single file."""
    short = pathlib.Path(file).stem
    return "" if len(files) == 1 else short if [pathlib.Path(other).stem for other in files].count(short) == 1 else file


def read(files):
    """[(name for errors, document)] of the files, or of standard input. @throws Failed"""
    found = []
    for file in files or ("-",):
        where = "standard input" if file == "-" else gnuplot.printable(file)
        try:
            if file != "-" and pathlib.Path(file).exists() and not pathlib.Path(file).is_file():
                raise gnuplot.Failed(f"{where}: it is no regular file")
            found.append((where, json.loads(sys.stdin.buffer.read() if file == "-" else pathlib.Path(file).read_bytes())))
        except OSError as e:
            raise gnuplot.Failed(f"{where}: it cannot be read: {e.strerror}") from e
        except (ValueError, RecursionError) as e:
            raise gnuplot.Failed(f"{where}: {e}") from e
    return found


def results_of(files):
    """The results of all documents: each is a result, or a list of named ones. @throws Failed"""
    found = []
    for file, (where, document) in zip(files or ("-",), read(files)):
        named = document if isinstance(document, list) else [{"name": name_of(file, files), **document} if isinstance(document, dict) else document]
        found += [results.checked(one, where) for one in named]
    return found


def timeline_of(files):
    """The timeline of one trace. @throws Failed"""
    ((where, document),) = read(files)
    try:
        return timeline.svg(document)
    except (KeyError, TypeError, AttributeError, ValueError) as e:
        raise gnuplot.Failed(f"{where}: it is no trace that chorale-sim has written: {e!r}") from e


def require(form):
    """@throws Failed if a dependency of the form is not installed"""
    gnuplot.svg([*gnuplot.head(100, 100, 0), "plot x"])
    if form == "report":
        report.jinja()


def run():
    """Runs chorale-plot. @returns its exit status"""
    parser = argparse.ArgumentParser(prog="chorale-plot", formatter_class=argparse.RawDescriptionHelpFormatter,
                                     description="Draws what Chorale's programs write as JSON.\n\n" + "\n".join(f"  {form:<9} {what}" for form, what in FORMS.items()),
                                     epilog="Exit status: 0; 1 if there is no picture; 2 for a mistake in the options.")
    parser.add_argument("form", choices=FORMS, help="what to make")
    parser.add_argument("files", nargs="*", metavar="FILE", help="what to read: several results are shown side by side (default: standard input)")
    parser.add_argument("--out", metavar="FILE", type=pathlib.Path, help="where to write (default: standard output)")
    parser.add_argument("--check", action="store_true", help="make nothing: say what is not installed, by the exit status too")
    chosen = parser.parse_args()
    if chosen.form == "timeline" and len(chosen.files) > 1:
        parser.error("a timeline is of one trace")
    try:
        if chosen.check:
            require(chosen.form)
            return 0
        make = {"plot": lambda: curves.picture(results_of(chosen.files)), "report": lambda: report.page(results_of(chosen.files)),
                "timeline": lambda: timeline_of(chosen.files)}
        made = make[chosen.form]().encode(errors="replace")
        if chosen.out:
            gnuplot.replace(chosen.out, made)
        else:
            sys.stdout.buffer.write(made)
        return 0
    except gnuplot.Failed as e:
        print(f"chorale-plot: {e}", file=sys.stderr)
        return 1


def main():
    """The entry point of chorale-plot."""
    sys.exit(run())
