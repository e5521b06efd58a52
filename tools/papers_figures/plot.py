# SPDX-License-Identifier: Apache-2.0
"""A figure as SVG, by gnuplot if installed."""
import math

from papers_figures import report
from plots import gnuplot, results

HOW = f"{gnuplot.MISSING}: the CSV is written, the plot is not"
MOST_CURVES = 6  # in a panel
COLUMNS = 2
# Pixels.
WIDTH = 640
PANEL = 400
PANEL_HEIGHT = 280
KEY_LINE = 16
TITLE = 26
UNITS = {"us": "µs"}


def can():
    """Whether plotting is possible."""
    return gnuplot.can()


def series_of(rows, x):
    """{(contestant, the rest of the point): [(place on the axis, row)]}."""
    series = {}
    for row in rows:
        rest = tuple((name, value) for name, value in row.at if name != x)
        series.setdefault((row.contestant, rest), []).append((dict(row.at)[x], row))
    return {one: sorted(points, key=lambda point: point[0]) for one, points in series.items()}


def panels_of(series, varying):
    """[(the value that all curves of a panel share, or None, curves)]: one panel for few curves, else one for each value of the axis that needs the fewest panels."""
    if len(series) <= MOST_CURVES:
        return [(None, list(series))]
    found = []
    for name in varying:
        by_value = {}
        for one in series:
            by_value.setdefault(dict(one[1]).get(name), []).append(one)
        most = max(len(curves) for curves in by_value.values())
        found.append((most > MOST_CURVES, len(by_value) if most <= MOST_CURVES else most, name, by_value))
    if not found:
        return [(None, list(series))]
    _, _, name, by_value = min(found, key=lambda one: one[:3])
    return [((name, value), curves) for value, curves in sorted(by_value.items(), key=lambda one: (one[0] is not None, one[0]))]


def kinds_of(curves):
    """[(names, curves)]: the curves of a panel, grouped by kinds of contestants ("RDMA" of "RDMA, degree 3"), with as few groups as possible."""
    if len(curves) <= MOST_CURVES:
        return [("", curves)]
    by_kind = {}
    for one in curves:
        by_kind.setdefault(one[0].partition(", ")[0], []).append(one)
    found = []
    for kind, some in by_kind.items():
        if found and len(found[-1][1]) + len(some) <= MOST_CURVES:
            found[-1] = (f"{found[-1][0]}, {kind}", [*found[-1][1], *some])
        else:
            found.append((kind, some))
    return found


def x_axis(figure, rows):
    """The commands for the horizontal axis, which all panels share."""
    places = sorted({dict(row.at)[figure.x] for row in rows})
    is_size = figure.x.endswith("bytes")
    names = {place: results.size_text(int(place)).removesuffix(" B") if is_size and place == int(place) else f"{place:g}" for place in places}
    lines = [f"set xlabel {gnuplot.quoted(figure.x.replace('_', ' '))} offset 0,0.4"]
    logarithmic = figure.log_x and places[0] > 0 and places[-1] > 4 * places[0]
    if logarithmic:
        # Some margin at both ends: otherwise rounding cuts off the outermost marks.
        lines += ["set logscale x 2", f"set xrange [{places[0] * 0.95}:{places[-1] * 1.05}]"]
    if len(places) <= 12:
        # Of two places close to each other, only the second is labelled.
        def beside(place, following):
            return following / place < (places[-1] / places[0]) ** 0.04 if logarithmic else following - place <= 0.04 * place
        apart = [place for place, following in zip(places, [*places[1:], math.inf]) if len(places) < 3 or not beside(place, following)]
        lines.append("set xtics (" + ", ".join(f'"{names[place]}" {place}' for place in apart) + ")")
        if len(places) > 6:
            lines.append("set xtics rotate by 45 right")
    return lines


def y_axis(figure, rows):
    """The commands for the vertical axis of a panel with these rows."""
    label = f"set ylabel {gnuplot.quoted('/'.join(sorted({UNITS.get(row.unit, row.unit) for row in rows})))}"
    above_zero = [row.value for row in rows if row.value > 0]
    if not figure.log_y or not above_zero:
        return [label, f"set yrange [0:{1.05 * max(above_zero, default=1):.9g}]"]
    low, high = gnuplot.widened(above_zero, 1.3)
    return [label, "set logscale y", f"set yrange [{low:.9g}:{high:.9g}]", f"set ytics ({gnuplot.ticks(low, high)})"]


def script(figure, measured):
    """The gnuplot script as lines; None if there is nothing to draw."""
    rows = [row for row in report.shown_rows(figure, measured)
            if figure.x in dict(row.at) and (not figure.drawn or row.contestant in figure.drawn)]
    if not rows:
        return None
    series = series_of(rows, figure.x)
    varying = sorted({name for _, rest in series for name, _ in rest if len({dict(other).get(name) for _, other in series}) > 1})
    # Bars that reach zero end far outside the axis.
    lowest = 1e-30 if figure.log_y else 0
    order = report.names(figure, rows)
    data, panels, looks = [], [], {}  # the style of each curve, by title: the same in all panels
    parts = [(shared, kinds, curves, whole) for shared, whole in panels_of(series, varying)
             for kinds, curves in kinds_of(sorted(whole, key=lambda one: (order.index(one[0]), one[1])))]
    most_kinds = max(len([one for one in parts if one[0] == shared]) for shared, *_ in parts)
    for shared, kinds, curves, whole in parts:
        drawn = []
        for contestant, rest in curves:
            extra = ", ".join(f"{value:g} {name}" for name, value in rest if name in varying and (shared is None or name != shared[0]))
            title = contestant + (", " + extra if extra else "")
            block = f"curve{len(drawn)}_{len(panels)}"
            drawn.append(gnuplot.curve(block, looks.setdefault(title, len(looks) + 1), title))
            data += gnuplot.block(block, [(x, row.value, max(row.least, lowest), row.most) for x, row in series[contestant, rest]])
        name = ": ".join(([f"{shared[1]:g} {shared[0]}"] if shared else []) + ([kinds] if kinds else []))
        # Panels that differ only in the kinds of contestants have the same axis.
        panels.append((name, y_axis(figure, [row for one in whole for _, row in series[one]]), drawn))
    columns = min(len(panels), max(COLUMNS, most_kinds))
    lines = -(-len(panels) // columns)
    key_rows = -(-len(looks) // 2)
    key = KEY_LINE * key_rows
    width, height = (WIDTH, 320 + key) if len(panels) == 1 else (PANEL * columns, TITLE + key + lines * PANEL_HEIGHT)
    begin = [*gnuplot.head(width, height), *data, "set clip one", gnuplot.GRID, *x_axis(figure, rows),
             f"set label 1 {gnuplot.quoted(f'{figure.name}: {figure.title}')} at screen 0.5,{1 - TITLE / 2 / height:.6f} center"]
    if len(panels) == 1:
        _, axis, drawn = panels[0]
        return [*begin, "set key above", f"set size 1,{1 - TITLE / height:.6f}", *axis, "plot " + ", ".join(drawn)]
    commands = [f"set multiplot layout {lines},{columns} margins screen {66 / width:.6f},{1 - 16 / width:.6f},{60 / height:.6f},{1 - (TITLE + key + 24) / height:.6f} "
                f"spacing screen {74 / width:.6f},{96 / height:.6f}",
                f"set key at screen 0.5,{1 - TITLE / height:.6f} center top vertical maxrows {key_rows}"]
    # The first panel has the picture's title and the key for all panels.
    known = len(panels[0][2])
    others = [f"keyentry with linespoints linetype {look} title {gnuplot.quoted(title)}" for title, look in looks.items() if look > known]
    for name, axis, drawn in panels:
        commands += [f"set title {gnuplot.quoted(name)} offset 0,-0.5", *axis, "plot " + ", ".join(drawn + others), "unset label 1", "unset key"]
        others = []
    return [*begin, *commands, "unset multiplot"]


def draw(figure, measured, file):
    """Writes the picture. @returns the error, or None"""
    told = script(figure, measured)
    if told is None:
        return "nothing was measured"
    if not can():
        return HOW
    try:
        gnuplot.draw(told, file)
    except gnuplot.Failed as e:
        return str(e)
    return None
