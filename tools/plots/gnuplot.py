# SPDX-License-Identifier: Apache-2.0
"""Runs gnuplot as a child process: quoting of strings, styles of curves, and post-processing of its picture.

Use `draw(commands, file)` or `svg(commands)`, where `commands` are lines of gnuplot that begin with those of `head(...)`.
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
# Curves differ by colour (Okabe and Ito, distinguishable by the colour-blind) and, in black and white, by points and
# dashes. The numbers of kinds have no common divisor, so that hundreds of curves differ.
COLOURS = ("#000000", "#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
POINTS = (7, 4, 9, 12, 5, 10, 13, 6, 11, 8, 2, 1, 3)
DASHES = (1, 2, 4, 5, 3)
CURVES = 100
GRID = "set grid xtics ytics linetype 1 linecolor rgb '#dddddd' linewidth 0.5"


class Failed(Exception):
    """There is no picture; the text has the reason and the remedy."""


def can():
    """Whether gnuplot is installed."""
    return shutil.which("gnuplot") is not None


def printable(text):
    """The text with blanks in place of unprintable characters."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def quoted(text):
    """A gnuplot string without special characters: these are written as octal numbers, since gnuplot 5.4 ends a string at some doubled
    quotes, and executes text between backquotes."""
    return '"' + re.sub(r"[^\w .,:()<>/-]", lambda found: f"\\{ord(found[0]):03o}" if ord(found[0]) < 128 else found[0], printable(text)) + '"'


def head(width, height, curves=CURVES, font=10):
    """The first commands of a picture of this size in pixels: an SVG on white, and the styles of the curves in order."""
    looks = [f"set linetype {i + 1} linecolor rgb '{COLOURS[i % len(COLOURS)]}' dashtype {DASHES[i % len(DASHES)]} "
             f"pointtype {POINTS[i % len(POINTS)]} pointsize 0.6 linewidth 1.2" for i in range(curves)]
    return ["set encoding utf8", f"set terminal svg size {width},{height} noenhanced font 'sans,{font}' background '#ffffff'", *looks]


def block(name, rows):
    """The lines of a data block with rows of numbers."""
    return [f"${name} << END", *(" ".join(f"{value:.12g}" for value in row) for row in rows), "END"]


def curve(name, number, title, bars=True):
    """The `plot` arguments for a data block of (x, y, low, high). Bars are vectors, since error bars erase what is behind their points."""
    drawn = f"${name} using 1:3:(0):($4-$3) with vectors nohead linetype {number} dashtype 1 linewidth 0.6 notitle, " if bars else ""
    return drawn + f"${name} using 1:2 with linespoints linetype {number} title {quoted(title)}"


def widened(values, least):
    """The range of positive values, extended by at least this factor at both ends."""
    low, high = min(values), max(values)
    room = max(least, (high / low) ** 0.05)
    return low / room, high * room


def ticks(low, high):
    """Powers of ten without exponents; for a short range, also multiples of them."""
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
        # -d: ignore ~/.gnuplot, which is meant for the user's own pictures.
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
    """Adds tooltips to the picture: one item of `names` for each `plot`, in order: a text, or a list of texts for its boxes or vectors."""
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
            # gnuplot continues a path if a vector begins where the previous one ends.
            points = re.findall(r"([ML])([\d.,-]+)", path[2])
            return "".join(shape(f"{path[1]} d='M{a} L{b}'") + "</path>" for (_, a), (kind, b) in zip(points, points[1:]) if kind == "L")

        drawn = re.sub(r"(<polygon [^>]*)/>", lambda box, shape=shape: shape(box[1]) + "</polygon>", drawn)
        # What follows the plot, such as the frame, is not one of its vectors.
        inside, end, behind = drawn.partition("\n\t</g>\n")
        parts.append(re.sub(r"(<path [^>]*?)\s+d='([^']*)'/>", of_path, inside) + end + behind)
    return "".join(parts)


def draw(commands, file):
    """Writes the picture completely, or not at all. @throws Failed"""
    try:
        picture = lean.lean(svg(commands))
    except xml.etree.ElementTree.ParseError as e:
        raise Failed(f"gnuplot wrote something that is no picture: {e}") from e
    replace(pathlib.Path(file), picture.encode())


def replace(file, content):
    """Writes a temporary file beside `file` and renames it at the end. @throws Failed"""
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
