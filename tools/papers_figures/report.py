# SPDX-License-Identifier: Apache-2.0
"""The measured results as text, Markdown and CSV."""
import contextlib
import csv
import io
import os
import textwrap

from papers_figures.figure import Results, Row

HOW = ("Made by `tools/papers`, which runs each figure anew{where}: medians of {runs} interleaved runs. A ratio is how many times "
       "faster the first of a claim is than the second; the papers' clusters had a node for each rank.")
FROM_FIGURES = """Made by `tools/papers` from the figures' tables, each of which says on what it was measured, and how often. The papers' clusters had a node for
each rank, where ranks share two cores here: whether the sign of a claim agrees can be compared, its number hardly. In virtual time both
can be compared: [the papers' results](papers/simulated.md) also say how many claims the papers make, and which are no rows."""
BEGIN, END = "<!-- made by tools/papers -->", "<!-- end of what tools/papers made -->"


def filled(words):
    """Wraps text to the width of a page."""
    return textwrap.fill(words, 150, break_long_words=False, break_on_hyphens=False)


def how(results, runs):
    """The text above the results of a run."""
    devices = {one.device for one in results.values()} - {""}
    model = "an unknown processor"
    with contextlib.suppress(OSError):
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), model)
    where = f" on {', '.join(sorted(devices))}, {len(os.sched_getaffinity(0))} cores of {model}" if devices else ""
    return filled(HOW.format(where=where, runs=runs))


def put_between(text, made):
    """Inserts `made` into `text` between the two marks. @throws ValueError if they are missing"""
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise ValueError(f"it does not have the lines '{BEGIN}' and '{END}', once each and in this order")
    return text[:text.index(BEGIN)] + BEGIN + "\n" + made.strip() + "\n" + text[text.index(END):]


def shown_rows(figure, results):
    """The rows of a figure's table and plot, restricted to `figure.only`; all rows if none of those points was measured."""
    rows = [row for row in results.rows if not figure.shown or row.contestant in figure.shown]
    return [row for row in rows
            if all(dict(row.at).get(name, values[0]) in values for name, values in figure.only)] or rows


def names(figure, rows):
    """The contestants in the order of the figure."""
    present = list(dict.fromkeys(row.contestant for row in rows))
    return [name for name in figure.shown if name in present] if figure.shown else present


def digits(value):
    """A number with three significant digits and at most two decimals, without exponent."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def by_point(axes, rows):
    """[(point, its rows)], where the first axis changes fastest."""
    found = {}
    for row in rows:
        found.setdefault(tuple(dict(row.at).get(axis) for axis in axes), []).append(row)
    return sorted(found.items(), key=lambda one: tuple((value is None, value or 0) for value in reversed(one[0])))


def grid(figure, results):
    """(head, lines): one line per point, one column per contestant. Axes with a single value are omitted."""
    rows = shown_rows(figure, results)
    columns = names(figure, rows)
    axes = sorted({name for row in rows for name, _ in row.at}, key=lambda name: (name != figure.x, name))
    axes = [axis for axis in axes if axis == figure.x or len({dict(row.at).get(axis) for row in rows}) > 1]
    units = {name: {row.unit for row in rows if row.contestant == name} for name in columns}
    head = axes + [f"{name}, {'/'.join(sorted(units[name]))}" for name in columns]
    lines = []
    for point, there in by_point(axes, rows):
        cells = {row.contestant: digits(row.value) for row in there}
        lines.append(["" if value is None else f"{value:g}" for value in point] + [cells.get(name, "") for name in columns])
    return head, lines


def verdict_cells(claim, results):
    """The cells of a claim in the table of claims."""
    verdict = claim.judge(results)
    if verdict.ours is None:
        return [verdict.text, verdict.paper, "", "", verdict.why_not]
    met = "fitted" if verdict.fitted else "yes" if verdict.met else "no: needs a network" if claim.network else "NO"
    return [verdict.text, verdict.paper, verdict.ours, "yes" if verdict.agrees else "NO", met]


VERDICT_HEAD = ["claim", "paper", "ours", "sign or bound", "met"]


def markdown(head, lines, numbers_from=0):
    """A Markdown table; columns from `numbers_from` on are right-aligned."""
    def line(cells):
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
    out = [line(head), "|" + "".join("---|" if i < numbers_from else "---:|" for i in range(len(head))), *map(line, lines)]
    return "\n".join(out)


def text(head, lines):
    """The same for a terminal."""
    widths = [max(len(line[i]) for line in [head, *lines]) for i in range(len(head))]
    return "\n".join("  ".join(cell.rjust(width) if i else cell.ljust(width)
                               for i, (cell, width) in enumerate(zip(line, widths))).rstrip()
                     for line in [head, *lines])


def remarks(figure, results):
    """The remarks below the tables."""
    parts = list(results.problems)
    if figure.model and ("{" not in figure.model or results.parameters):
        parts.append(figure.model.format(**{name: f"{value:.3g}" for name, value in results.parameters.items()}))
    if figure.cannot:
        parts.append("What soft0 cannot show: " + figure.cannot)
    return parts


def terminal(figure, results, small=False):
    """A whole figure for a terminal; the small form judges no claims."""
    parts = [f"{figure.name}: {figure.title} ({figure.source})"]
    if results.rows:
        parts.append(text(*grid(figure, results)))
    if figure.claims and not small:
        parts.append(text(VERDICT_HEAD, [verdict_cells(claim, results) for claim in figure.claims]))
    parts += results.problems if small else remarks(figure, results)
    return "\n\n".join(parts) + "\n"


def section(figure, results, plot):
    """A whole figure as Markdown; `plot` is the name of its picture, or None."""
    parts = [f"## {figure.name}: {figure.title}", f"Source: {figure.source}."]
    if plot:
        parts.append(f"![{figure.title}]({plot})")
    if results.rows:
        parts.append(markdown(*grid(figure, results)))
    if figure.claims:
        parts.append(markdown(VERDICT_HEAD, [verdict_cells(claim, results) for claim in figure.claims], 1))
    parts += remarks(figure, results)
    return "\n\n".join(parts) + "\n"


SPREAD = ("least", "most", "runs")


def comma_separated(figure, results):
    """All rows, including those that the table omits: one line per point, and for each contestant one column, or four if a row has several runs.
    @throws ValueError if a contestant has two units"""
    axes = sorted({name for row in results.rows for name, _ in row.at}, key=lambda name: (name != figure.x, name))
    contestants = {}
    for row in results.rows:
        unit, several = contestants.get(row.contestant, (row.unit, False))
        if row.unit != unit:
            raise ValueError(f"{figure.name}: {row.contestant} is in {unit} and in {row.unit}")
        contestants[row.contestant] = unit, several or (row.least, row.most, row.runs) != (row.value, row.value, 1)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["figure", *axes, *(f"{name}, {what}" for name, (unit, several) in contestants.items() for what in (unit, *(SPREAD if several else ())))])
    for point, there in by_point(axes, results.rows):
        line = [figure.name, *("" if value is None else value for value in point)]
        rows = {row.contestant: row for row in there}
        for name, (_, several) in contestants.items():
            row = rows.get(name)
            cells = [f"{row.value:.4g}", f"{row.least:.4g}", f"{row.most:.4g}", row.runs] if row else [""] * 4
            line += cells if several else cells[:1]
        writer.writerow(line)
    return out.getvalue()


def number_of(text):
    """An int for a whole number, else a float. @throws ValueError"""
    value = float(text)
    return int(value) if value.is_integer() else value


def from_comma_separated(figure, text):
    """Reads the output of `comma_separated`. @throws ValueError if it has another format or belongs to another figure."""
    head, *lines = list(csv.reader(io.StringIO(text))) or [[]]
    if any(len(line) != len(head) or line[0] != figure.name for line in lines) or head[:1] != ["figure"]:
        raise ValueError(f"it is none of figure {figure.name}")
    lines = [dict(zip(head, line)) for line in lines]
    axes = [name for name in head[1:] if ", " not in name]
    rows = []
    for column in head[1 + len(axes):]:
        contestant, _, unit = column.rpartition(", ")
        if unit in SPREAD:
            continue
        if any(row.contestant == contestant for row in rows):
            raise ValueError(f"{contestant} has two columns")
        for line in (line for line in lines if line[column]):
            at = tuple(sorted((name, number_of(line[name])) for name in axes if line[name]))
            least, most, runs = (line.get(f"{contestant}, {name}", ordinary) for name, ordinary in zip(SPREAD, (line[column], line[column], 1)))
            rows.append(Row(contestant, at, float(line[column]), unit, float(least), float(most), int(runs)))
    return Results(rows)


def read(figures, folder):
    """{name of a figure: Results} from the CSV files of a folder; a figure without a file was not measured. Parameters of models are computed from
    the figure with the underlying measurements. @throws OSError, ValueError"""
    found = {}
    for figure in figures:
        file = folder / f"{figure.name}.csv"
        found[figure.name] = from_comma_separated(figure, file.read_text(encoding="utf-8")) if file.is_file() else Results([])
    for figure in figures:
        for fit in filter(None, (getattr(set_up, "fit", None) for set_up in figure.set_ups)):
            source = next((other for other in figures if fit.of in other.set_ups and found[other.name].rows), None)
            found[figure.name].parameters.update(source and fit.compute(found[source.name]) or {})
    return found


def above(file):
    """The text between the title of a paper's page and its first figure; empty if there is no such page."""
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    return text.split("\n", 1)[1].split("\n## ", 1)[0].strip() if "\n## " in text else ""
