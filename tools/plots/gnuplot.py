# SPDX-License-Identifier: Apache-2.0
"""gnuplot as a child: how strings are quoted for it, how curves look, and what becomes of its picture.

A picture is made by `draw(commands, file)` or `svg(commands)`, where `commands` are lines of gnuplot that begin with those of `head(...)`.
"""
import math
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree
import xml.sax.saxutils

from . import lean

MISSING = "gnuplot is not installed (on Debian and Ubuntu: apt-get install gnuplot-nox)"
TIME_LIMIT = 120  # seconds for one picture
# Curves differ by colour (Okabe and Ito: the colour-blind can tell them apart), and in black and white by their
# points and dashes. The numbers of kinds have no common divisor, so that hundreds of curves differ.
COLOURS = ("#000000", "#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
POINTS = (7, 4, 9, 12, 5, 10, 13, 6, 11, 8, 2, 1, 3)
DASHES = (1, 2, 4, 5, 3)
CURVES = 100
GRID = "set grid xtics ytics linetype 1 linecolor rgb '#dddddd' linewidth 0.5"


class Failed(Exception):
    """There is no picture; the text says why, and what helps."""


def can():
    """Whether gnuplot is installed."""
    return shutil.which("gnuplot") is not None


def printable(text):
    """The text with a blank for what has no place in a picture or a page, such as control characters."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def quoted(text):
    """A string for gnuplot, in which nothing is special: all that may be is given by its number, since gnuplot 5.4 ends a string at some of the
    quotes that are doubled, and runs what stands between backquotes."""
    return '"' + re.sub(r"[^\w .,:()<>/-]", lambda found: f"\\{ord(found[0]):03o}" if ord(found[0]) < 128 else found[0], printable(text)) + '"'


def head(width, height, curves=CURVES, font=10):
    """The first lines of a picture of so many pixels: an SVG on white, and how the curves look in their order."""
    looks = [f"set linetype {i + 1} linecolor rgb '{COLOURS[i % len(COLOURS)]}' dashtype {DASHES[i % len(DASHES)]} "
             f"pointtype {POINTS[i % len(POINTS)]} pointsize 0.6 linewidth 1.2" for i in range(curves)]
    return ["set encoding utf8", f"set terminal svg size {width},{height} noenhanced font 'sans,{font}' background '#ffffff'", *looks]


def block(name, rows):
    """The lines of a data block, of rows of numbers."""
    return [f"${name} << END", *(" ".join(f"{value:.12g}" for value in row) for row in rows), "END"]


def curve(name, number, title, bars=True):
    """What `plot` is told of a data block of (x, y, low, high). Bars as vectors: error bars wipe out what lies behind their points."""
    drawn = f"${name} using 1:3:(0):($4-$3) with vectors nohead linetype {number} dashtype 1 linewidth 0.6 notitle, " if bars else ""
    return drawn + f"${name} using 1:2 with linespoints linetype {number} title {quoted(title)}"


def widened(values, least):
    """The range of positive values, with a margin of at least this factor."""
    low, high = min(values), max(values)
    room = max(least, (high / low) ** 0.05)
    return low / room, high * room


def ticks(low, high):
    """Powers of ten, written without exponents; if there are few, also multiples of these."""
    places = [digit * 10.0 ** power for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
              for digit in ((1, 2, 3, 4, 5, 7) if high / low < 10 else (1, 2, 5) if high / low < 1000 else (1,))]
    def written(place):
        return f"{place:,.0f}" if place >= 1 else f"{place:.15f}".rstrip("0")
    return ", ".join(f"'{written(place)}' {place:.15g}" for place in places if low <= place <= high)


def svg(commands):
    """The picture, as text. @throws Failed"""
    if not can():
        raise Failed(MISSING)
    told = "\n".join(commands) + "\n"
    try:
        # -d: what the user has in ~/.gnuplot belongs to other pictures.
        done = subprocess.run(["gnuplot", "-d"], input=told.encode(), capture_output=True, timeout=TIME_LIMIT, check=False)
    except subprocess.TimeoutExpired as e:
        raise Failed(f"gnuplot took more than {TIME_LIMIT} s") from e
    except OSError as e:
        raise Failed(f"gnuplot does not start: {e.strerror}") from e
    said = done.stderr.decode(errors="replace").strip()
    if done.returncode != 0:
        raise Failed(f"gnuplot ended with {done.returncode}: {said[-400:]}")
    if not done.stdout:
        raise Failed(f"gnuplot drew nothing: {said[-400:]}")
    return done.stdout.decode()


def titled(picture, title, names):
    """The picture with names that are shown to whoever points at something: one for each `plot` in its order, which is a text, or a list of those
    of its boxes or of its vectors."""
    begin, *plots = re.split(r"<title>gnuplot_plot_\w+</title>", picture)
    if len(plots) != len(names):
        raise Failed(f"gnuplot wrote {len(plots)} curves instead of {len(names)}: is this gnuplot older than 5.4?")

    def named(text):
        return f"<title>{xml.sax.saxutils.escape(printable(text))}</title>"

    parts = [re.sub("<title>Gnuplot</title>", lambda _: named(title), begin, count=1)]
    for name, drawn in zip(names, plots):
        if isinstance(name, str):
            parts += [named(name), drawn]
            continue

        def shape(drawn, left=iter(name)):
            return f"{drawn}>{named(next(left, ''))}"

        def of_path(path, shape=shape):
            # gnuplot continues a path where a vector begins at the end of the one before.
            points = re.findall(r"([ML])([\d.,-]+)", path[2])
            return "".join(shape(f"{path[1]} d='M{a} L{b}'") + "</path>" for (_, a), (kind, b) in zip(points, points[1:]) if kind == "L")

        drawn = re.sub(r"(<polygon [^>]*)/>", lambda box, shape=shape: shape(box[1]) + "</polygon>", drawn)
        # What comes behind the plot, as the frame, is no vector of it.
        inside, end, behind = drawn.partition("\n\t</g>\n")
        parts.append(re.sub(r"(<path [^>]*?)\s+d='([^']*)'/>", of_path, inside) + end + behind)
    return "".join(parts)


def draw(commands, file):
    """Writes the picture: the whole of it, or nothing. @throws Failed"""
    try:
        picture = lean.lean(svg(commands))
    except xml.etree.ElementTree.ParseError as e:
        raise Failed(f"gnuplot wrote something that is no picture: {e}") from e
    replace(pathlib.Path(file), picture.encode())


def replace(file, content):
    """Writes beside a file and takes its place at the end. @throws Failed"""
    try:
        if file.exists() and not file.is_file():
            file.write_bytes(content)  # such as /dev/stdout
            return
        handle, beside = tempfile.mkstemp(prefix=file.name + ".", dir=file.resolve().parent)
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(content)
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(beside, 0o666 & ~mask)
            os.replace(beside, file.resolve())
        except BaseException:
            pathlib.Path(beside).unlink(missing_ok=True)
            raise
    except OSError as e:
        raise Failed(f"{file}: {e.strerror}") from e
