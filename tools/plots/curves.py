# SPDX-License-Identifier: Apache-2.0
"""Results as a picture: for each operation, time on the left and bandwidth on the right, against the size, with logarithmic axes."""
import math

from plots import gnuplot, results
from plots.gnuplot import ticks, widened

# Pixels.
WIDTH = 1240
LINE = 16
KEY_LINE = 17  # the height of a line of the key in gnuplot with this font, rounded up
KEY_LETTER, KEY_SAMPLE = 7, 50  # the width of a letter of the key, rounded up, and of the space before a name
LEAST_PANEL = 244
TITLE = 34  # the space above the panels of a strip
FOOT = 52  # the space below them
PANEL = 360  # the width of a panel
TIMES, RATES, KEY = 84, 530, 915  # the left edges of panels and key
MOST_CHARACTERS = 190  # of a line of text above or below
NEXT_TO_NOTHING = 1e-30  # bars that reach zero end far outside the axis


def ticks_of_sizes(sizes, low, high):
    """As many of the measured sizes as fit."""
    last, found = -math.inf, []
    for size in sorted(set(sizes)):
        if math.log2(size) - last >= math.log2(high / low) / 7:
            last = math.log2(size)
            found.append(f"'{results.size_text(size)}' {size}")
    return ", ".join(found)


def panel_height(strip):
    """The height of the panels, at least that of the key: gnuplot breaks a higher key into columns, for which the picture has no space."""
    return max(LEAST_PANEL, KEY_LINE * (len(strip.curves) + 1))


def height(strip):
    """The height of the whole strip."""
    return TITLE + panel_height(strip) + FOOT + (LINE if strip.left_out else 0)


def width_of(strips):
    """The width of a picture with enough space for the names in the keys."""
    return max([WIDTH, *((KEY if strip.sized else RATES) + KEY_SAMPLE + KEY_LETTER * len(name) for strip in strips for name in strip.curves)])


def panel(strip, number, rates, top, wide, whole):
    """The commands for one of the two panels of a strip, in a picture of this width and height."""
    def value(mark, time):
        return results.bandwidth(mark.bytes, time) if rates else time

    low, high = widened([value(mark, time) for mark in strip.spanned or strip.marks for time in (mark.time, mark.low, mark.high) if time > 0], 1.1)
    data, plots = [], []
    for order, (name, marks) in enumerate(strip.curves.items(), 1):
        block = f"{'rate' if rates else 'time'}_{number}_{order}"
        data += gnuplot.block(block, [(mark.bytes if strip.sized else order, *(value(mark, max(time, NEXT_TO_NOTHING)) for time in (mark.time, mark.low, mark.high)))
                                      for mark in marks])
        plots.append(gnuplot.curve(block, order, name))
    if strip.sized:
        sizes = [mark.bytes for mark in strip.spanned or strip.marks]
        first, last = widened(sizes, 1.2)
        x_axis = ["set logscale x 2", f"set xrange [{first:.17g}:{last:.17g}]", f"set xtics ({ticks_of_sizes(sizes, first, last)})", "set xlabel 'size'"]
    else:
        x_axis = ["unset logscale x", f"set xrange [0:{len(strip.curves) + 1}]", "unset xtics", "set xlabel 'in the order of the key'"]
    left = RATES if rates else TIMES
    begin = 1 - top / whole
    # One key for both panels.
    key = "unset key" if rates else (f"set key at screen {(KEY if strip.sized else RATES) / wide:.6f},{begin:.6f} left top Left reverse vertical "
                                     f"maxrows {len(strip.curves)} samplen 4")
    label = "MB/s (size / time)" if rates else "µs of a call and its barrier" if strip.with_barrier else "µs of a call"
    return [*data, f"set lmargin at screen {left / wide:.6f}", f"set rmargin at screen {(left + PANEL) / wide:.6f}", f"set tmargin at screen {begin:.6f}",
            f"set bmargin at screen {begin - panel_height(strip) / whole:.6f}", f"set ylabel {gnuplot.quoted(label)}", f"set yrange [{low:.9g}:{high:.9g}]",
            f"set ytics ({ticks(low, high)})", "set logscale y 10", *x_axis, key, "plot " + ", ".join(plots)]


def svg(above, strips):
    """The strips one below the other, below lines of text; tooltips show the names of curves. @throws Failed"""
    strips = [part for strip in strips for part in results.parts_of(strip)]
    wide = width_of(strips)
    texts = [(text, LINE * number, 11) for number, text in enumerate(above, 1)]
    end = 12 + LINE * len(above)
    names, tops = [], []
    for strip in strips:
        tops.append(end - 8 + TITLE)
        texts.append((strip.title, end + 10, 14))
        end += height(strip)
        if strip.left_out:
            texts.append((f"not drawn, since it is not above zero: {'; '.join(strip.left_out)}", end - 16, 10))
        # For each curve in each panel, gnuplot draws first the bars and then the line.
        names += [name for name in strip.curves for _ in range(2)] * (2 if strip.sized else 1)
    shown = [text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS - 3] + "..." for text, _, _ in texts]
    labels = [f"set label {number} {gnuplot.quoted(text)} at screen {12 / wide:.6f},{1 - y / end:.6f} left font 'sans,{size}'"
              for number, (text, (_, y, size)) in enumerate(zip(shown, texts), 1)]
    panels = []
    for number, (strip, top) in enumerate(zip(strips, tops)):
        for rates in (False, True) if strip.sized else (False,):
            if strip.curves:
                # gnuplot writes all labels with the first panel, so that they are unset afterwards.
                panels += [*panel(strip, number, rates, top, wide, end), "unset label"]
    drawn = gnuplot.svg([*gnuplot.head(wide, end, max(len(strip.curves) for strip in strips), 11), "set clip one", gnuplot.GRID, *labels,
                         "set multiplot", *panels, "unset multiplot"])
    return gnuplot.titled(drawn, "Time and bandwidth of collectives", names)


def line_about(result):
    """A line with library, ranks and device."""
    name = result.get("name", "")
    return (f"{name}: " if name else "") + "; ".join(f"{key} {value}" for key, value in result["about"].items())


def picture(all_results):
    """An SVG of results. @throws Failed"""
    strips = results.strips_of(all_results)
    if not any(strip.curves for strip in strips):
        raise gnuplot.Failed("cannot draw: no row has a time above zero")
    bars = results.bars_of(all_results) or "from the 10th to the 90th percentile of the samples"
    return svg([*map(line_about, all_results), f"Points: medians; bars: {bars}. Size: bytes of the message, or of the block of one rank."], strips)
