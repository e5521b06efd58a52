# SPDX-License-Identifier: Apache-2.0
"""Results as one HTML page with the machine, the run, pictures and tables. It needs no other file and no script."""
import json
import pkgutil
import re

from plots import curves, results
from plots.gnuplot import Failed, printable

MISSING = "Jinja2 is not installed (on Debian and Ubuntu: apt-get install python3-jinja2)"


def jinja():
    """The package jinja2. @throws Failed"""
    try:
        import jinja2  # pylint: disable=import-outside-toplevel
    except ImportError as e:
        raise Failed(MISSING) from e
    return jinja2


def digits(value):
    """A number with three significant digits, without exponent."""
    return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3}f}"


def inlined(picture, prefix):
    """A gnuplot picture as an element of a page: without file header, and with unique names, since all of gnuplot's pictures use the same."""
    return re.sub(r"<[^>]*>", lambda tag: re.sub(r"""(\bid=["']|href=["']#|url\(#)""", rf"\g<1>{prefix}", tag[0]), picture[picture.index("<svg"):])


def page(all_results):
    """The page. @throws Failed"""
    jinja2 = jinja()
    strips = results.strips_of(all_results)
    places = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined,
                                finalize=lambda value: printable(value) if type(value) is str else value)  # pylint: disable=unidiomatic-typecheck
    return places.from_string(pkgutil.get_data("plots", "report.html").decode()).render(
        results=all_results, strips=strips, sizes=sorted({mark.bytes for strip in strips for mark in strip.marks}), bars=results.bars_of(all_results),
        cautions=results.cautions_of, times=results.TIMES, digits=digits, size_text=results.size_text, bandwidth=results.bandwidth,
        text=lambda value: value if isinstance(value, str) else json.dumps(value),
        picture=lambda strip, prefix: jinja2.utils.markupsafe.Markup(inlined(curves.svg([], [strip]), prefix))) + "\n"
