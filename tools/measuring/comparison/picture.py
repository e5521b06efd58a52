# SPDX-License-Identifier: Apache-2.0
"""The rounds as a picture and as a page, in the style of chorale-bench's results."""
import pathlib
import statistics

from measuring.comparison import contestants
from plots import curves, gnuplot, report as page, results as drawn


def documents(chosen, results, told):
    """{name: a result in the format of chorale-bench}, one for each number of ranks: contestants are algorithms, rounds are samples."""
    made = {}
    for ranks in chosen.ranks:
        rows = []
        for (point, name), values in results.samples.items():
            if point.ranks == ranks and results.why_left_out(point, name) is None:
                middle, least, most = statistics.median(values), min(values), max(values)
                rows.append({"operation": point.operation, "algorithm": name, "transport": "", "bytes": point.bytes, "median": middle,
                             "p10": least, "p90": most, "p99": most, "min": least, "max": most, "wall": middle,
                             "samples": len(values), "calls": 1})
        about = {"made by": chosen.command, "bars": f"least to most of {chosen.rounds} rounds"}
        if contestants.measure(ranks) == "wall":
            about["times"] = "with the barrier before each call, since ranks outnumber cores"
        made[f"{ranks}-ranks"] = {"about": about, "machine": dict(told), "ranks": ranks, "unit": "us", "rows": rows}
    return made


def draw(chosen, results, told):
    """Writes the files of --plot and --report. @returns the error; empty if there is none"""
    made = documents(chosen, results, told)
    all_results = [drawn.checked({"name": name if len(made) > 1 else "", **document}, name) for name, document in made.items()]
    for option, file, make in (("--plot", chosen.plot, curves.picture), ("--report", chosen.report, page.page)):
        try:
            if file:
                gnuplot.replace(pathlib.Path(file), make(all_results).encode(errors="replace"))
        except gnuplot.Failed as e:
            return f"{option}: {e}"
    return ""
