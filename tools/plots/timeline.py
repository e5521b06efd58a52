# SPDX-License-Identifier: Apache-2.0
"""A trace of ranks (Chrome's JSON, from chorale-sim --trace) as a picture: a row with the activity of each rank, and a line for each message."""
import re

from plots import gnuplot
from plots.gnuplot import Failed

MOST_ROWS = 64  # more cannot be distinguished on a page
MOST_SHAPES = 100_000  # viewers take seconds to show more
# Pixels.
WIDTH, LEFT, RIGHT, TOP, ROW, BOTTOM = 1200, 80, 60, 146, 24, 36
GAP = 0.5  # rows between two hosts
MANY = 100  # with more messages, their lines are thin and light, so that the bars behind them remain visible
LEAST = 0.1  # the least width of a shape, for visibility
# Colours by the names of slices, distinguishable by the colour-blind (Okabe and Ito).
LOOKS = {
    "posting": ("#e69f00", {"post", "send"}),
    "copying": ("#009e73", {"copy"}),
    "combining operands": ("#cc79a7", {"combine"}),
    "taking what was received": ("#56b4e9", {"receive", "match", "post receive", "poll"}),
    "library: calls, registration": ("#666666", set()),  # and all others
    "computing": ("#f0e442", {"compute"}),
    "waiting": ("#e4e4e4", {"wait", "wait for message", "wait for answer"}),
}
OTHERS = "library: calls, registration"
WIRE = "0072b2"


def look_of(name):
    """The kind of activity of a slice."""
    return next((look for look, (_, names) in LOOKS.items() if name in names), OTHERS)


def ranks_of_a_host(about):
    """The number of ranks per host, parsed from the trace's text; 0 for a single host or if unknown."""
    found = re.match(r"(\d+) of \d+, with (\d+) rank", str(about.get("hosts", "")))
    return int(found.group(2)) if found and found.group(1) != "1" and found.group(2) != "1" else 0


def places(ranks, together):
    """The row of each rank; `together` ranks are on a host, and hosts are separated by a gap."""
    return [rank + GAP * (rank // together if together else 0) for rank in range(ranks)]


def hosts(rows, together):
    """Bands with names behind the rows of each host."""
    for host, first in enumerate(range(0, len(rows) if together else 0, together or 1)):
        low, high = rows[first] - 0.5, rows[min(first + together, len(rows)) - 1] + 0.5
        yield f"set object rectangle from graph 0, first {low:.6g} to graph 1, first {high:.6g} behind fillcolor rgb '#f3f6fa' fillstyle solid noborder"
        yield f"set label 'host {host}' at graph 1, first {(low + high) / 2:.6g} offset character 2, 0 rotate by -90 center"


def stretches(slices):
    """{(rank, thread): [[begin, end, look]]} of work, with adjacent parts of equal look merged."""
    found = {}
    for event in slices:
        before = found.setdefault((event["pid"], event["tid"]), [])
        begin, end, look = event["ts"], event["ts"] + event["dur"], look_of(event["name"])
        if before and before[-1][2] == look and begin - before[-1][1] < 1e-6:
            before[-1][1] = end
        elif end > begin:
            before.append([begin, end, look])
    return found


def svg(trace):
    """The picture. @throws Failed"""
    if not isinstance(trace, dict) or not isinstance(trace.get("traceEvents"), list):
        raise Failed('it has no list "traceEvents": it is no trace')
    about = trace.get("otherData", {})
    slices = [event for event in trace["traceEvents"] if event.get("ph") == "X"]
    work = sorted((event for event in slices if event["cat"] in ("work", "wait")), key=lambda event: event["ts"])
    try:
        first, last = about["window"]["begin"], about["window"]["end"]
        ranks = about["ranks"]
        title = about["of"]
    except KeyError as e:
        raise Failed(f'its "otherData" has no {e}: chorale-sim --trace writes traces that can be drawn') from e
    if last <= first:
        raise Failed(f"{title} took no time")
    if ranks > MOST_ROWS:
        raise Failed(f"{ranks} ranks are more than the {MOST_ROWS} that a picture can show")
    together = ranks_of_a_host(about)
    rows = places(ranks, together)
    left_out = int(about.get("messages over the edge, left out", 0))
    if left_out:
        title += f"; {left_out} messages over the edge are not drawn"
    length = last - first
    least = length * LEAST / WIDTH

    def inside(time):
        return min(max(time, first), last) - first

    def words(begin, end):
        return f"{begin - first:.3f} to {end - first:.3f} µs"

    # {look: [(begin, end, row, lower and upper edge), title]}; helpers have thin bars below their row's bar.
    bars = {look: [] for look in LOOKS}
    for (rank, thread), parts in stretches(work).items():
        for begin, end, look in parts:
            if end > first and begin < last and not (thread and look == "waiting"):
                low, high = (7 / ROW, 11 / ROW) if thread else (-7 / ROW, 7 / ROW)
                x = inside(begin)
                bars[look].append(((x, min(max(inside(end), x + least), length), rows[rank], rows[rank] + low, rows[rank] + high),
                                   f"{'helper: ' if thread else ''}{look} of rank {rank}, {words(max(begin, first), min(end, last))}"))
    marks = [((inside(event["ts"]), rows[event["pid"]] - 0.46, 0, 0.92), event["name"]) for event in slices
             if event["cat"] == "phase" and event["tid"] == 0 and first <= event["ts"] <= last]
    wires = {False: [], True: []}
    for event in slices:
        told = event.get("args", {})
        answer = event["cat"] == "answer"
        if "leaves" in told and (not answer or told["bytes"]):
            begin, end, to = told["leaves"], told["arrives"], told["to rank"]
            x = inside(begin)
            wires[answer].append(((x, rows[event["pid"]], max(inside(end) - x, least), rows[to] - rows[event["pid"]]),
                                  f"{'answer, ' if answer else ''}{told['bytes']} B, rank {event['pid']} to {to}, {words(begin, end)}"))
    count = sum(map(len, (*bars.values(), *wires.values(), marks)))
    if count > MOST_SHAPES:
        raise Failed(f"there are {count} things to draw between {first:.3f} and {last:.3f} µs, more than {MOST_SHAPES}; a shorter --window or "
                     "fewer ranks have fewer")
    bottom = rows[-1] + 0.5
    height = TOP + round(ROW * (bottom + 0.5)) + BOTTOM
    data, plots, names = [], [], []

    def draw(key, shapes, how, style, more=""):
        # The key entry is a separate plot, so that shapes and titles correspond; `more` is the style of the shapes if
        # different.
        plots.append(f"NaN {'with boxes' if 'boxxy' in how else 'with lines'} {style} title {gnuplot.quoted(key)}")
        names.append(key)
        if shapes:
            block = f"data_{len(names)}"
            data.extend(gnuplot.block(block, [shape for shape, _ in shapes]))
            plots.append(f"${block} {how} {more or style} notitle")
            names.append([text for _, text in shapes])

    for look, (colour, _) in LOOKS.items():
        draw(look, bars[look], "using (($1+$2)/2):3:1:2:4:5 with boxxyerror", f"fillstyle solid noborder linecolor rgb '{colour}'")
    vectors = "using 1:2:3:4 with vectors nohead"
    light = f"linewidth 0.6 linecolor rgb '#90{WIRE}'" if len(wires[False]) + len(wires[True]) > MANY else ""
    draw("a call or a sample begins", marks, vectors, "linecolor rgb '#000000'")
    draw("message, first byte out to last byte in", wires[False], vectors, f"linecolor rgb '#{WIRE}'", light)
    draw("data of an answer", wires[True], vectors, f"linecolor rgb '#{WIRE}' dashtype 2", light and f"{light} dashtype 2")
    width = LEFT + WIDTH + RIGHT
    named = ", ".join(f"'rank {rank}' {row:.6g}" for rank, row in enumerate(rows))
    drawn = gnuplot.svg([
        *gnuplot.head(width, height, 0), *data, f"set label 1 {gnuplot.quoted(title)} at screen {LEFT / width:.6f},{1 - 18 / height:.6f} left font 'sans,14'",
        f"set lmargin at screen {LEFT / width:.6f}", f"set rmargin at screen {1 - RIGHT / width:.6f}",
        f"set tmargin at screen {1 - TOP / height:.6f}", f"set bmargin at screen {BOTTOM / height:.6f}",
        f"set key at screen {LEFT / width:.6f},{1 - 34 / height:.6f} left top Left reverse horizontal maxcols 4 samplen 2",
        *hosts(rows, together), f"set xrange [0:{length:.12g}]", "set link x2", f"set yrange [{bottom:.6g}:-0.5]", f"set ytics ({named}) scale 0",
        # The axis is on top, where reading begins, and also at the bottom.
        "set x2tics nomirror", "set grid x2tics linetype 1 linecolor rgb '#cccccc'", "set border 5", "set xtics nomirror",
        f"set x2label {gnuplot.quoted(f'virtual time since {first:.3f} µs, in µs (thin below a row: helpers)')}", "plot " + ", ".join(plots)])
    return gnuplot.titled(drawn, title, names)
