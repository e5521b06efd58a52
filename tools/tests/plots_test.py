#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pictures by gnuplot: quoting, failures, and the files left after a failure. Usage: plots_test.py"""
import os
import pathlib
import re
import sys
import unittest
import unittest.mock
import xml.etree.ElementTree

sys.dont_write_bytecode = True
sys.path[:0] = [str(folder) for folder in pathlib.Path(__file__).resolve().parents[:2]]

import running  # noqa: E402
from papers_figures import figure, plot  # noqa: E402
from plots import gnuplot, lean, timeline  # noqa: E402


class Gnuplot(running.InFolder):
    """gnuplot as it is installed, and one that fails."""

    def setUp(self):
        super().setUp()
        self.picture = self.folder / "picture.svg"

    def stand_in(self, body):
        """Installs a fake gnuplot with this script."""
        (self.folder / "bin").mkdir(exist_ok=True)
        (self.folder / "bin/gnuplot").write_text(f"#!/bin/sh\ncat > /dev/null\n{body}\n", encoding="utf-8")
        (self.folder / "bin/gnuplot").chmod(0o755)
        return unittest.mock.patch.dict(os.environ, PATH=f"{self.folder / 'bin'}:{os.environ['PATH']}")

    @unittest.skipUnless(gnuplot.can(), "gnuplot-nox is not installed (tools/install-dependencies --ci)")
    def test_names_are_shown_as_they_are(self):
        planted = self.folder / "planted"
        name = f"it's <\"&\\> {{/Bold µ}} `touch {planted}`\nexit"
        curves = [f"1 + {number} title {gnuplot.quoted(f'curve {number}')}" for number in range(120)]
        gnuplot.draw([*gnuplot.head(640, 3000), f"set title {gnuplot.quoted(name)}", "set key below", "plot " + ", ".join(curves)], self.picture)
        shown = [" ".join("".join(text.itertext()).split()) for text in
                 xml.etree.ElementTree.parse(self.picture).getroot().iter("{http://www.w3.org/2000/svg}text")]
        self.assertIn(" ".join(name.split()), shown)
        self.assertIn("curve 119", shown)
        self.assertFalse(planted.exists())

    @staticmethod
    def marks(element, above):
        """The drawn marks in order, each with its own and its inherited attributes."""
        here = above | {name: " ".join(value.split()) for name, value in element.attrib.items() if name not in ("id", "class")}
        if above.get("transform") and "transform" in element.attrib:
            here["transform"] = f"{above['transform']} {here['transform']}"
        kind = element.tag[len(lean.SVG):]
        if kind == "g":
            return [mark for child in element for mark in Gnuplot.marks(child, here)]
        said = {name: value for name, value in here.items() if kind == "text" or not name.startswith(("font-", "text-"))}
        return [(kind, said, element.text)] if kind not in ("title", "desc", "defs") else []

    @unittest.skipUnless(gnuplot.can(), "gnuplot-nox is not installed (tools/install-dependencies --ci)")
    def test_a_lean_picture_has_the_same_marks(self):
        told = [*gnuplot.head(640, 440), *gnuplot.block("data", [(1, 2, 1, 3), (9, 4, 3, 5)]), f"set title {gnuplot.quoted('two  points: ' + 'x ' * 90)}",
                "set logscale x 2", "set xtics rotate by -45", gnuplot.GRID, f"plot {gnuplot.curve('data', 2, 'a curve')}, x with lines title 'a line'"]
        drawn = gnuplot.svg(told)
        gnuplot.draw(told, self.picture)
        text = self.picture.read_text(encoding="utf-8")
        before, after = (xml.etree.ElementTree.fromstring(one).find(f"{lean.SVG}g") for one in (drawn, text))
        self.assertGreater(len(self.marks(before, lean.INITIAL)), 20)
        self.assertEqual(self.marks(before, lean.INITIAL), self.marks(after, lean.INITIAL))
        used = {use.get(lean.LINK)[1:] for use in after.iter(f"{lean.SVG}use")}
        self.assertEqual({one.get("id") for one in after.find(f"{lean.SVG}defs")}, used)
        self.assertLess(text.count("\n"), drawn.count("\n") / 2)

    @unittest.skipUnless(gnuplot.can(), "gnuplot-nox is not installed (tools/install-dependencies --ci)")
    def test_a_folder_that_is_not_there(self):
        with self.assertRaisesRegex(gnuplot.Failed, "nowhere.*No such file"):
            gnuplot.draw([*gnuplot.head(100, 100), "plot x"], self.folder / "nowhere" / "picture.svg")

    @unittest.skipUnless(gnuplot.can(), "gnuplot-nox is not installed (tools/install-dependencies --ci)")
    def test_commands_that_are_none(self):
        with self.assertRaisesRegex(gnuplot.Failed, "ended with 1: .*nonsense"):
            gnuplot.draw([*gnuplot.head(100, 100), "nonsense"], self.picture)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_gnuplot_that_fails(self):
        """gnuplot's message is reported, and an existing picture is kept."""
        self.picture.write_text("old", encoding="utf-8")
        for body, said in (("echo no terminal >&2; exit 3", "ended with 3: no terminal"), ("echo strange >&2", "drew nothing: strange"),
                           ("echo '<svg>'", "something that is no picture")):
            with self.stand_in(body), self.assertRaisesRegex(gnuplot.Failed, said):
                gnuplot.draw(["plot x"], self.picture)
        self.assertEqual(self.picture.read_text(encoding="utf-8"), "old")

    def test_without_gnuplot(self):
        with unittest.mock.patch.dict(os.environ, PATH=str(self.folder)), \
                self.assertRaisesRegex(gnuplot.Failed, "gnuplot is not installed .*apt-get install gnuplot-nox"):
            gnuplot.draw(["plot x"], self.picture)

    def test_figures_of_many_curves(self):
        """Kinds of contestants are in separate panels, with the same axis."""
        kinds = {f"{kind}, degree {degree}" for kind, degrees in (("RDMA", 4), ("send/receive", 4), ("model", 2)) for degree in range(degrees)}
        curves = [(name, ()) for name in sorted(kinds)]
        self.assertEqual(plot.kinds_of(curves[:plot.MOST_CURVES]), [("", curves[:plot.MOST_CURVES])])
        found = plot.kinds_of(curves)
        self.assertEqual([name for name, _ in found], ["RDMA, model", "send/receive"])
        self.assertEqual(sorted(one for _, some in found for one in some), curves)
        self.assertLessEqual(max(len(some) for _, some in found), plot.MOST_CURVES)
        rows = [figure.Row(name, (("ranks", ranks),), 10.0 * number * ranks, "us", 1, 1000, 1) for number, name in enumerate(sorted(kinds), 1) for ranks in (2, 4)]
        told = "\n".join(plot.script(figure.Figure("P1.1", "made up", "nowhere", (), "ranks"), figure.Results(rows)))
        self.assertEqual((told.count('set title "RDMA, model"'), told.count('set title "send/receive"'), told.count("set yrange [0:420]")), (1, 1, 2), told)

    @unittest.skipUnless(gnuplot.can(), "gnuplot-nox is not installed (tools/install-dependencies --ci)")
    def test_a_timeline_of_several_hosts(self):
        """The ranks of a host are adjacent, with its name; the axis is above them."""
        work = [{"name": "copy", "cat": "work", "ph": "X", "ts": 10 + rank, "dur": 1, "pid": rank, "tid": 0} for rank in range(6)]
        about = {"of": "a call", "ranks": 6, "hosts": "3 of 8, with 2 ranks each", "window": {"begin": 10, "end": 20}}
        for hosts, gaps in ((about["hosts"], [0, 0.5, 0, 0.5, 0]), ("1 of 8, with 6 ranks each", [0] * 5), ("6 of 8, with 1 rank each", [0] * 5)):
            picture = xml.etree.ElementTree.fromstring(timeline.svg({"traceEvents": work, "otherData": about | {"hosts": hosts}}))
            heights = {}
            for one in picture.iter("{http://www.w3.org/2000/svg}g"):
                if found := re.fullmatch(r"translate\(([\d.]+),([\d.]+)\).*", one.get("transform", "")):
                    heights.setdefault(" ".join("".join(one.itertext()).split()), float(found[2]))
            rows = [heights[f"rank {rank}"] for rank in range(6)]
            self.assertEqual([round((below - above) / timeline.ROW - 1, 1) for above, below in zip(rows, rows[1:])], gaps)
            self.assertEqual([name in heights for name in ("host 0", "host 2", "host 3")], [any(gaps), any(gaps), False])
            self.assertLess(heights["virtual time since 10.000 µs, in µs (thin below a row: helpers)"], rows[0])
            bars = [one.text for one in picture.iter("{http://www.w3.org/2000/svg}title") if "copying of" in (one.text or "")]
            self.assertIn("copying of rank 3, 3.000 to 4.000 µs", bars)

    def test_more_than_a_timeline_can_show(self):
        def trace(ranks, events):
            work = [{"name": ("copy", "post")[number % 2], "cat": "work", "ph": "X", "ts": number, "dur": 1, "pid": 0, "tid": 0} for number in range(events)]
            return {"traceEvents": work, "otherData": {"of": "a call", "ranks": ranks, "window": {"begin": 0, "end": events}}}

        for ranks, events, said in ((timeline.MOST_ROWS + 1, 1, "65 ranks are more than the 64"),
                                    (1, timeline.MOST_SHAPES + 1, "100001 things to draw between 0.000 and 100001.000 µs, more than 100000")):
            with self.assertRaisesRegex(gnuplot.Failed, said):
                timeline.svg(trace(ranks, events))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
