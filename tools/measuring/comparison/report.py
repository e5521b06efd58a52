# SPDX-License-Identifier: Apache-2.0
"""The results as Markdown, CSV and JSON."""
import csv
import io
import json
import statistics

from measuring import pages
from measuring.comparison import contestants, summary, turns

CROWDED = ("Broadcast, reduce, gather and scatter: with the barrier before each call. Where ranks share cores, a rank that waits in the "
           "barrier finds its message there when it gets a core, so the call alone would seem to cost nothing.")
LEFT_OUT = "left out"
HEAD = ("ranks", "operation", "bytes", "contestant", "median_us", "least_us", "most_us", "rounds", "floor_us", "left_out")


def shown(value, digits=3):
    """A number as a table cell."""
    return "" if value is None else f"{value:.{digits}f}"


def head(chosen, ranks):
    """The lines above the table for a number of ranks."""
    crowded = ranks > contestants.cores()
    than = "the default" if chosen.choice else "Chorale"
    yield (f"{ranks} ranks on {contestants.cores()} cores, {'not bound, ranks outnumber cores' if crowded else 'bound to cores'}; "
           f"medians of {chosen.rounds} rounds in turns; a ratio below 1 means that {than} is faster.")
    if crowded:
        yield CROWDED
    yield ""


def against_peers(everyone, results, points):
    """The table of Chorale compared with the other contestants."""
    peers = [one.name for one in everyone if one.name != contestants.CHORALE]
    yield pages.head("operation", "bytes", "chorale us", *(f"{name} us" for name in peers), "ratio to the best", "flag floor us",
                     "ratio to the floor")
    for point in points:
        mine, floor, row = results.median(point, contestants.CHORALE), results.floor(point), summary.ratio(results, point, contestants.CHORALE)
        figures = [LEFT_OUT if (point, name) in results.refused else shown(results.median(point, name))
                   for name in (contestants.CHORALE, *peers)]
        yield pages.cells(point.operation, point.bytes, *figures, shown(row and row.value, 2), shown(floor),
                          shown(mine / floor if mine and floor else None, 1))


def of_choice(results, points):
    """The table of the default compared with the best other algorithm."""
    yield pages.cells("operation", "bytes", "default us", "best other us", "best other", "ratio")
    yield "|---|---:|---:|---:|---|---:|"
    rows = {row.point: row for row in summary.of_choice(results, points)}
    for point in points:
        row = rows.get(point)
        if row:
            yield pages.cells(point.operation, point.bytes, shown(row.ours), shown(row.best), f"`{row.who}`", shown(row.value, 2))
        elif (point, contestants.CHORALE) in results.refused:
            yield pages.cells(point.operation, point.bytes, LEFT_OUT, "", "", "")


def left_out(results, ranks):
    """The contestants that are left out of rows, one line per reason."""
    reasons = {}
    for (point, name), why in results.refused.items():
        if point.ranks == ranks:
            reasons.setdefault((name, why), []).append(point.text())
    for (name, why), rows in reasons.items():
        yield f"* {name}, left out of {', '.join(rows)}: {why}"


def markdown(chosen, everyone, results, told, missing, operations, sizes):
    """The whole report, as lines."""
    yield f"Made by `{chosen.command}`, in microseconds of one call."
    yield ""
    yield from (f"* {name}: {text}" for name, text in told)
    for ranks in chosen.ranks:
        points = turns.rows(operations, sizes, ranks)
        yield ""
        yield from head(chosen, ranks)
        yield from of_choice(results, points) if chosen.choice else against_peers(everyone, results, points)
        lines = list(left_out(results, ranks))
        yield from ["", *lines] if lines else []
        rows = summary.of_choice(results, points) if chosen.choice else summary.against_peers(results, points)
        whom = "the best other algorithm" if chosen.choice else "the best peer"
        for line in summary.lines(rows, ranks, chosen.bound, whom):
            yield ""
            yield line
    if missing:
        yield ""
        yield from (f"* {remark}" for remark in missing)


def records(results):
    """A dictionary for each row and contestant (or algorithm), with the values of all rounds."""
    keys = list(dict.fromkeys([*results.samples, *results.refused]))
    for point, name in sorted(keys, key=lambda key: (key[0].ranks, key[0].operation, key[0].bytes)):
        values = results.samples.get((point, name), [])
        yield {"ranks": point.ranks, "operation": point.operation, "bytes": point.bytes, "contestant": name, "values": values,
               "floor": results.floor(point), "left_out": results.why_left_out(point, name)}


def as_csv(results, told):
    """A line for each row and contestant, preceded by facts about the machine in # lines."""
    out = io.StringIO()
    for name, text in told:
        out.write(f"# {name}: {text}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEAD)
    for one in records(results):
        values = one["values"] if one["left_out"] is None else []
        figures = [f"{of(values):.6g}" for of in (statistics.median, min, max)] if values else ["", "", ""]
        floor = "" if one["floor"] is None else f"{one['floor']:.6g}"
        writer.writerow([one["ranks"], one["operation"], one["bytes"], one["contestant"], *figures, len(values), floor,
                         one["left_out"] or ""])
    return out.getvalue()


def as_json(chosen, results, told, missing):
    """All rounds as JSON."""
    return json.dumps({"command": chosen.command, "machine": dict(told), "unit": "us",
                       "measure": {str(ranks): contestants.measure(ranks) for ranks in chosen.ranks},
                       "missing": missing, "rows": list(records(results))}, indent=1) + "\n"
