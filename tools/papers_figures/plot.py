# SPDX-License-Identifier: Apache-2.0
"""A figure as SVG, by gnuplot, where that is installed."""
from papers_figures import report
from plots import gnuplot

HOW = f"{gnuplot.MISSING}: the CSV is written, the plot is not"


def can():
    """Whether there is something to plot with."""
    return gnuplot.can()


def script(figure, results):
    """What gnuplot is told, as lines; None if there is nothing to draw."""
    rows = [row for row in report.shown_rows(figure, results)
            if figure.x in dict(row.at) and (not figure.drawn or row.contestant in figure.drawn)]
    series = {}
    for row in rows:
        rest = tuple((name, value) for name, value in row.at if name != figure.x)
        series.setdefault((row.contestant, rest), []).append((dict(row.at)[figure.x], row))
    if not series:
        return None
    varying = {name for _, rest in series for name, _ in rest
               if len({dict(other).get(name) for _, other in series}) > 1}
    units = sorted({row.unit for row in rows})
    lines = [*gnuplot.head(640, 340 + 14 * len(series)), f"set title {gnuplot.quoted(f'{figure.name}: {figure.title}')}",
             f"set xlabel {gnuplot.quoted(figure.x.replace('_', ' '))} offset 0,0.4", f"set ylabel {gnuplot.quoted('/'.join(units))}",
             "set key below", "set clip one",
             gnuplot.GRID, "set offsets 0, 0, graph 0.05, 0"]
    places = sorted({x for points in series.values() for x, _ in points})
    if figure.log_x and places[0] > 0 and places[-1] > 4 * places[0]:
        # A little room at both ends: else rounding leaves out the outermost marks.
        lines += ["set logscale x 2", f"set xrange [{places[0] * 0.95}:{places[-1] * 1.05}]"]
    if len(places) <= 12:
        lines.append("set xtics (" + ", ".join(f'"{x:g}" {x}' for x in places) + ")")
        if len(places) > 6:
            lines.append("set xtics rotate by -45")
    lines.append("set logscale y" if figure.log_y else "set yrange [0:*]")
    curves, data = [], []
    # Bars that reach zero end far beyond the axis.
    lowest = 1e-30 if figure.log_y else 0
    order = report.names(figure, rows)
    for (contestant, rest), points in sorted(series.items(), key=lambda item: (order.index(item[0][0]), item[0][1])):
        extra = ", ".join(f"{value:g} {name}" for name, value in rest if name in varying)
        number = len(curves) + 1
        curves.append(gnuplot.curve(f"curve{number}", number, contestant + (", " + extra if extra else "")))
        data += gnuplot.block(f"curve{number}", [(x, row.value, max(row.least, lowest), row.most) for x, row in sorted(points, key=lambda point: point[0])])
    return [*data, *lines, "plot " + ", ".join(curves)]


def draw(figure, results, file):
    """Writes the picture. @returns None, or why there is none."""
    told = script(figure, results)
    if told is None:
        return "nothing was measured"
    if not can():
        return HOW
    try:
        gnuplot.draw(told, file)
    except gnuplot.Failed as e:
        return str(e)
    return None
