#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the sections and figures cited from the five papers exist: "P2 sections 3.1 and 4.1.2", "P4 §5.2".

Usage: citations.py ROOT. docs/papers.md defines P1 to P5.
"""
import pathlib
import re

from tree import run
from text import FOLDERS, texts

# The headings of each paper.
SECTIONS = {
    "P1": "1 2 2.1 2.1.1 2.1.2 2.1.3 2.2 3 3.1 3.2 3.3 4 4.1 4.2 4.3 5 5.1 5.2 5.3 5.4 6 7 8",
    "P2": "1 2 3 3.1 3.2 3.3 4 4.1 4.1.1 4.1.2 4.1.3 4.1.4 4.2 4.2.1 4.2.2 4.2.3 4.2.4 5 5.1 5.2 "
          "6 6.1 6.1.1 6.1.2 6.2 6.2.1 6.2.2 7",
    "P3": "",  # the thesis: only its figures are known, not its sections
    "P4": "1 2 2.1 2.2 2.3 3 3.1 3.2 3.3 3.4 4 4.1 4.2 4.3 5 5.1 5.2 5.3 6 7",
    "P5": "1 2 3 3.1 3.2 3.3 4 4.1 4.2 4.3 5 5.1 5.1.1 5.1.2 5.1.3 6 7 8",
}
FIGURES = {
    "P1": "1 2 3 4 5 6 7 8 9",
    "P2": "1 2 3 4 5 6 7 8 9 10 11 12 13 14",
    "P3": "4.3 6.16 6.17 6.19 6.20 6.23 6.24 6.25 6.26 6.27 6.28 6.29 6.30 6.31 6.32 6.33 6.34 6.35 6.36 6.37 6.38",
    "P4": "1 2 3 4 5",
    "P5": "1 2 3 4 5 6 7 8 9 10 11",
}
NUMBER = r"\d+(?:\.\d+)*"
# "section 4.2", "sections 2.3, 4.1 and 4.2", "§2, §4"; a figure may have a part: "figure 6(c)".
PLACES = rf"(sections?|figures?|§§?)\s*((?:§?{NUMBER}(?:\s?\([a-d]\))?(?:,\s+(?:and\s+)?|\s+and\s+|\s+to\s+)?)+)"
CITATION = re.compile(rf"\b(P[1-5]),?\s+(?=section|figure|§)((?:{PLACES}(?:[,;]?\s*(?:and\s+)?))+)", re.IGNORECASE)
# The beginning of a comment line.
MARGIN = re.compile(r"^\s*(?:///?|#+|\*)?\s?")


def running_text(lines):
    """The lines without their margins, joined into one text, and the line number of each character."""
    text, numbers = "", []
    for number, line in enumerate(lines, 1):
        line = MARGIN.sub("", line) + " "
        text += line
        numbers += [number] * len(line)
    return text, numbers


def citations(lines):
    """(line number, paper, "section" or "figure", number as text) of each citation."""
    text, numbers = running_text(lines)
    for found in CITATION.finditer(text):
        for place in re.finditer(PLACES, found.group(2), re.IGNORECASE):
            what = "figure" if place.group(1).lower().startswith("figure") else "section"
            for number in re.findall(NUMBER, place.group(2)):
                yield numbers[found.start()], found.group(1), what, number


def cited(root):
    """The files to check, relative to root."""
    yield from texts(root)
    yield from (path.relative_to(root) for path in sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md")]))


def offences(root):
    """Every citation of a section or figure that does not exist, as lines of text."""
    found = []
    for file in cited(root):
        if file == pathlib.PurePath("tests/style/self_test.py"):
            continue  # contains wrong citations on purpose
        lines = (root / file).read_text(encoding="utf-8", errors="replace").splitlines()
        for line, paper, what, number in citations(lines):
            if number not in (FIGURES if what == "figure" else SECTIONS)[paper].split():
                found.append(f"{file}:{line}: {paper} has no {what} {number} (tests/style/citations.py lists what it has)")
    return found


if __name__ == "__main__":
    run(offences, cited, f"text files in {', '.join(FOLDERS)}, docs")
