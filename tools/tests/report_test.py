#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page that chorale-bench --report writes for made-up results: its contents, and that it needs no other file. Usage: report_test.py BENCH MPIRUN|none"""
import html.parser
import importlib.util
import pathlib
import re
import shutil
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from plot_test import Made, result, row  # noqa: E402

VOID = ("meta", "link")


class Page(html.parser.HTMLParser):
    """The tags of a page; checks that they are closed correctly."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.texts, self.rows, self.wrong = [], [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        self.texts.append(data)
        if self.rows and {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data + (" " if "small" not in self.open else "")


@unittest.skipUnless(shutil.which("gnuplot") and importlib.util.find_spec("jinja2"),
                     "gnuplot-nox or python3-jinja2 is not installed (tools/install-dependencies --ci)")
class Report(Made):
    """--report."""

    def page(self, *documents):
        """The page of these results."""
        names = [self.write(f"{number}.json", document) for number, document in enumerate(documents)]
        self.measured(*(word for name in names for word in ("--from", name)), "--report", "o.html")
        return Page((self.folder / "o.html").read_text(encoding="utf-8"))

    def whole(self, page):
        """Checks that a page is well-formed and self-contained, and that its ids are unique."""
        self.assertEqual((page.open, page.wrong), ([], []))
        ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertNotIn("script", [tag for tag, _ in page.tags])
        for _, attributes in page.tags:
            for name, value in attributes.items():
                self.assertFalse(name.startswith("on") or name == "src", attributes)
                if name in ("href", "xlink:href"):
                    self.assertTrue(value == "data:," or value[1:] in ids and value[0] == "#", attributes)
                self.assertNotRegex("" if name.startswith("xmlns") else value, r"(?i)^https?:|url\((?!#)")

    def test_tables(self):
        """Each figure is in its place; the fastest of each size is marked."""
        rows = [row("allreduce", "ring", 8, 10), row("allreduce", "ring", 1024, 1.25), row("allreduce", "<b>", 8, 4, wrong_ranks=0),
                row("allreduce", "<b>", 1024, 200, wrong_ranks=2), row("barrier", "x", 0, 0.125)]
        page = self.page({**result(*rows), "machine": {"processor": "Abacus & <co>"}, "run": {"command": "mpirun x"}})
        self.whole(page)
        cells = [[cell.strip() for cell in line] for line in page.rows]
        for line in (["processor", "Abacus & <co>"], ["command", "mpirun x"], ["chorale", "1.2.3"],
                     ["operation", "no bytes", "8 B", "1 KiB"], ["allreduce, 8 ranks", "", "<b> 4.00 µs", "ring 1.25 µs"],
                     ["barrier, 8 ranks", "x 0.125 µs", "", ""],
                     ["algorithm", "8 B", "1 KiB"], ["ring", "10.0 5.00 to 20.0", "1.25 0.625 to 2.50"], ["<b>", "4.00 2.00 to 8.00", "200 WRONG 100 to 400"],
                     ["<b>", "1024", "200.000", "100.000", "400.000", "600.000", "100.000", "400.000", "800.000", "7x9", "", "5.12", "2 ranks WRONG"]):
            self.assertEqual(cells.count(line), 1, (line, cells))
        self.assertEqual(sum(attributes.get("class") == "best" for _, attributes in page.tags), 3)
        self.assertEqual(sum(attributes.get("class") == "wrong" for _, attributes in page.tags), 2)
        self.assertEqual(sum(tag == "svg" for tag, _ in page.tags), 2)
        self.assertIn("1 results were WRONG.", page.texts)
        self.assertIn("MB/s (size / time)", page.texts)

    def test_cautions(self):
        """The reasons to doubt the fastest result are stated for the run, and nothing else is."""
        some = [row("barrier", "x", 0, 1, samples=5), row("barrier", "y", 0, 1, samples=10)]
        doubtful = {**result(*some, ranks=2), "machine": {"cores": "2 of 2"}, "run": {"load at the end": "24.07 (mean of a minute)"}}
        sound = {**result(some[1], ranks=2), "run": {"load at the end": "2.90 (mean of a minute)"}}
        for document, expected in ((doubtful, ["The load was 24.07 with 2 ranks: other programs ran meanwhile.",
                                               "1 of 2 figures are of fewer than 10 samples, the least of 5."]), (sound, [])):
            page = self.page(document)
            self.whole(page)
            self.assertEqual([text for text in page.texts if "may be chance" in text], [f"{caution} Which is the fastest may be chance." for caution in expected])

    def test_names_that_would_be_tags(self):
        """Text from a file appears on the page as text only."""
        name = "\"><script>alert('x')</script> id='y href='#z"
        page = self.page(result(row("scan", name, 8, 1, set_up=name, contestant=name), **{name: name}), result(row("scan", "ring", 8, 0)))
        self.whole(page)
        self.assertGreaterEqual(sum(name in text for text in page.texts), 6)

    def test_measured(self):
        """The page of a real run, with the same facts about the machine as CSV and JSON."""
        self.measured("barrier", "allreduce", "--sizes", "8,4096", "--check", "--report", "o.html", "--json", "o.json")
        page = Page((self.folder / "o.html").read_text(encoding="utf-8"))
        self.whole(page)
        told = self.json("o.json")
        cells = [[cell.strip() for cell in line] for line in page.rows]
        for part in ("about", "machine", "run"):
            for key, value in told[part].items():
                self.assertIn([key, re.sub(r"\s", " ", value)], cells)
        for one in told["rows"]:
            self.assertTrue(any(line[1:3] == [str(one["bytes"]), f"{one['median']:.3f}"] for line in cells if len(line) == 13), (one, cells))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
