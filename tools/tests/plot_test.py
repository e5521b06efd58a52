#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pictures that chorale-bench draws of made-up results, whose correct appearance is known. Usage: plot_test.py BENCH MPIRUN|none"""
import json
import os
import pathlib
import re
import shutil
import sys
import unittest
import unittest.mock
import xml.etree.ElementTree

sys.dont_write_bytecode = True
sys.path[:0] = [str(folder) for folder in pathlib.Path(__file__).resolve().parents[:2]]

import files_test  # noqa: E402
from files_test import BENCH, Files  # noqa: E402
from plots import curves, program  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


def row(operation, algorithm, size, median, transport="rc", **more):
    """A row of a result."""
    return {"operation": operation, "algorithm": algorithm, "transport": transport, "bytes": size, "median": median,
            "p10": median / 2, "p90": median * 2, "p99": median * 3, "min": median / 2, "max": median * 2, "wall": median * 4,
            "samples": 7, "calls": 9, **more}


def result(*rows, ranks=8, **about):
    """A result."""
    return {"about": {"chorale": "1.2.3", **about}, "ranks": ranks, "unit": "us", "rows": list(rows)}


class Made(Files):
    """Made-up results."""

    def write(self, name, document):
        """Writes a file. @returns its name"""
        (self.folder / name).write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
        return name

    def texts(self, name):
        """All texts of a picture; checks that it is well-formed."""
        root = xml.etree.ElementTree.parse(self.folder / name).getroot()
        self.assertEqual(root.tag, f"{SVG}svg")
        return [" ".join("".join(text.itertext()).split()) for text in root.iter(f"{SVG}text")]

    def draw(self, name):
        """The texts of the picture drawn from a result."""
        (self.folder / "o.svg").write_text(curves.picture(program.results_of([str(self.folder / name)])), encoding="utf-8")
        return self.texts("o.svg")

    def draw_by_bench(self, *names, words=()):
        """The same for several results, drawn by chorale-bench."""
        self.measured(*(word for name in names for word in ("--from", name)), *words, "--plot", "o.svg")
        return self.texts("o.svg")


@unittest.skipUnless(shutil.which("gnuplot"), "gnuplot-nox is not installed (tools/install-dependencies --ci)")
class Plot(Made):
    """--plot."""

    def test_labels(self):
        """All names, sizes and units are present, and the key contains each curve once."""
        rows = [row("allreduce", algorithm, size, size + 1) for size in (8, 1024, 65536) for algorithm in ("ring", "degree_k<3>", "a, b")]
        texts = self.draw(self.write("a.json", result(row("barrier", "it's `x` <&>", 0, 3), *rows)))
        expected = dict.fromkeys(("barrier, 8 ranks", "allreduce, 8 ranks", "ring", "degree_k<3>", "a, b", "it's `x` <&>", "MB/s (size / time)",
                                  "chorale 1.2.3"), 1) | dict.fromkeys(("8 B", "1 KiB", "64 KiB", "µs of a call", "size"), 2)
        self.assertEqual({text: texts.count(text) for text in expected}, expected)
        titles = [title.text for title in xml.etree.ElementTree.parse(self.folder / "o.svg").getroot().iter(f"{SVG}title")]
        self.assertEqual(titles[1:], ["it's `x` <&>"] * 2 + ["ring", "ring", "degree_k<3>", "degree_k<3>", "a, b", "a, b"] * 2)

    def test_names_are_no_commands(self):
        """Names from a file are not executed as commands."""
        names = ["'", "it''s", "a\"b", "\\", "'; print system('id'); #", "\" . system('id') . \"", "`id`", "@x $y %d {/Bold z}"]
        texts = self.draw(self.write("a.json", result(*(row("scan", name, size, 1) for name in names for size in (8, 16)))))
        # The first curve is in both pairs of panels.
        self.assertEqual({name: texts.count(name) for name in names}, dict.fromkeys(names, 1) | {names[0]: 2})

    def test_places(self):
        """The positions of points in the picture: decades are equally long, and so are bars."""
        self.draw(self.write("a.json", result(*(row("scan", "one", 4 ** power, 10.0 ** power) for power in range(1, 4)))))
        text = (self.folder / "o.svg").read_text(encoding="utf-8")
        uses = [(float(x), float(y)) for x, y in re.findall(r"<use xlink:href='#gpPt\d+' transform='translate\(([\d.]+),([\d.]+)\)", text)]
        # One point in the key, three for times, three for bandwidths.
        times = sorted({one for one in uses if one[0] < 450})
        rates = sorted({one for one in uses if 450 < one[0] < 880})
        self.assertEqual((len(times), len(rates)), (3, 3), uses)
        for points in (times, rates):
            steps = [(b[0] - a[0], a[1] - b[1]) for a, b in zip(points, points[1:])]
            self.assertAlmostEqual(steps[0][0], steps[1][0], delta=0.5)
            self.assertAlmostEqual(steps[0][1], steps[1][1], delta=0.5)
        # From point to point, times rise by a decade, and bandwidths fall by 10 / 4.
        self.assertGreater(times[1][1], times[2][1])
        self.assertLess(rates[1][1], rates[2][1])

    def test_curves_differ_without_colour(self):
        """Each curve has its own combination of points and dashes."""
        self.draw(self.write("a.json", result(*(row("barrier", f"curve {i}", 0, i + 1) for i in range(60)))))
        text = (self.folder / "o.svg").read_text(encoding="utf-8")
        looks = {}
        # The bars of a curve precede its line, and are never dashed.
        for name, drawn in zip(re.findall(r"<title>(curve \d+)", text)[1::2], re.split(r"<title>curve \d+", text)[2::2]):
            dash = re.search(r"stroke-dasharray='([\d., ]+)'", drawn.split("<use")[0])
            looks.setdefault(name, (re.search(r"#gpPt(\d+)", drawn).group(1), dash and dash.group(1)))
        self.assertEqual((len(looks), len(set(looks.values()))), (60, 60), looks)

    def test_key_in_one_column(self):
        """For any number of curves: a second column would exceed the picture. The panel is as high as the key."""
        for curves in (5, 15, 60):
            self.draw(self.write("a.json", result(*(row("barrier", f"curve {i}", 0, i + 1) for i in range(curves)))))
            root = xml.etree.ElementTree.parse(self.folder / "o.svg").getroot()
            places = {}
            for group in root.iter(f"{SVG}g"):
                text = group.find(f"{SVG}text")
                moved = re.match(r"translate\(([\d.]+),([\d.]+)\)", group.get("transform", ""))
                if text is not None and moved and "".join(text.itertext()).strip().startswith("curve "):
                    places["".join(text.itertext()).strip()] = tuple(map(float, moved.groups()))
            self.assertEqual(len(places), curves, places)
            self.assertEqual(len({x for x, _ in places.values()}), 1, places)
            self.assertEqual([name for name, _ in sorted(places.items(), key=lambda one: one[1][1])], [f"curve {i}" for i in range(curves)])
            self.assertLess(max(y for _, y in places.values()), float(root.get("height")))

    def test_few_curves_in_a_panel(self):
        """More curves are spread over panels with the same axes and the same first curve; the longest name fits into the picture."""
        longest = "w" * 60
        names = [f"curve {i}" for i in range(13)] + [longest]
        texts = self.draw(self.write("a.json", result(*(row("scan", name, size, 10.0 ** (i / 4)) for i, name in enumerate(names) for size in (8, 16)))))
        self.assertEqual({name: texts.count(name) for name in names}, dict.fromkeys(names, 1) | {"curve 0": 3})
        self.assertLessEqual({f"scan, 8 ranks ({i} of 3)" for i in (1, 2, 3)}, set(texts))
        self.assertEqual((texts.count("1,000"), texts.count("µs of a call")), (3, 3), texts)
        root = xml.etree.ElementTree.parse(self.folder / "o.svg").getroot()
        begin = next(float(re.match(r"translate\(([\d.]+),", group.get("transform"))[1]) for group in root.iter(f"{SVG}g")
                     if group.get("transform") and "".join(group.itertext()).strip() == longest)
        self.assertLess(begin + 6.5 * len(longest), float(root.get("width")))
        self.assertNotIn("scan, 8 ranks (1 of 1)", self.draw(self.write("a.json", result(*(row("scan", name, 8, 1) for name in names[:6])))))

    def test_transports_and_files_side_by_side(self):
        both = [row("scan", "ring", 8, 1), row("scan", "ring", 8, 2, transport="ud")]
        texts = self.draw(self.write("a.json", result(*both)))
        self.assertLessEqual({"rc ring", "ud ring"}, set(texts))
        self.assertIn("MPI", self.draw(self.write("m.json", result(row("scan", "MPI", 8, 1, transport="mpi")))))
        texts = self.draw_by_bench("a.json", "m.json")
        self.assertLessEqual({"a: rc ring", "a: ud ring", "m: MPI"}, set(texts))
        (self.folder / "more").mkdir()
        texts = self.draw_by_bench("a.json", self.write("more/a.json", result(row("scan", "ring", 8, 1))), words=["scan"])
        self.assertLessEqual({"a.json: rc ring", "more/a.json: rc ring"}, set(texts))
        # Results on other numbers of ranks get other strips.
        texts = self.draw_by_bench("m.json", self.write("n.json", result(row("scan", "MPI", 8, 1, transport="mpi"), ranks=1)))
        self.assertLessEqual({"scan, 8 ranks", "scan, 1 rank"}, set(texts))
        self.assertEqual(texts.count("MPI"), 2)

    def test_set_ups(self):
        texts = self.draw(self.write("a.json", result(row("scan", "ring", 8, 1, set_up="first", contestant="mine"))))
        self.assertLessEqual({"first: scan, 8 ranks", "mine"}, set(texts))

    def test_what_is_not_above_zero(self):
        """Values that are not positive are listed, since a logarithmic axis cannot show them."""
        texts = self.draw(self.write("a.json", result(row("scan", "ring", 8, 0), row("scan", "ring", 1000, 1, p10=-1), row("gather", "x", 8, 0))))
        self.assertIn("not drawn, since it is not above zero: ring at 8 B: 0 µs", texts)
        self.assertIn("not drawn, since it is not above zero: x at 8 B: 0 µs", texts)
        done = self.bench("--from", self.write("b.json", result(row("scan", "ring", 8, 0))), "--plot", "b.svg")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no row has a time above zero", done.stderr)
        self.assertFalse((self.folder / "b.svg").exists())

    def test_crowded(self):
        """If ranks outnumber cores, calls with a root are timed with their barrier, unless there was none."""
        rows = (row("reduce", "one", 8, 1), row("allreduce", "one", 8, 1))
        crowded = {"waiting": "ranks outnumber cores: yielding"}
        texts = self.draw(self.write("a.json", result(*rows, **crowded)))
        self.assertEqual((texts.count("µs of a call and its barrier"), texts.count("µs of a call")), (1, 1))
        texts = self.draw(self.write("a.json", result(*rows, **crowded, **{"calls with a root": "back to back, without a barrier between them"})))
        self.assertEqual((texts.count("µs of a call and its barrier"), texts.count("µs of a call")), (0, 2))

    def test_measured(self):
        """A picture drawn during the run equals the one drawn later from the file."""
        self.measured("allreduce", "barrier", "--sizes", "8,4096", "--json", "o.json", "--plot", "first.svg", "--csv", "first.csv")
        self.measured("--from", "o.json", "--plot", "again.svg", "--csv", "again.csv")
        for end in ("svg", "csv"):
            first, again = ((self.folder / f"{which}.{end}").read_text(encoding="utf-8") for which in ("first", "again"))
            self.assertEqual(first, again)
        self.assertLessEqual({"allreduce, 1 rank", "barrier, 1 rank", "standard", "8 B", "4 KiB"}, set(self.texts("first.svg")))


class Mistakes(Made):
    """Errors, and their messages."""

    def refused(self, said, *words, **how):
        """Checks that a run is refused before it measures anything, and writes no file."""
        self.write("a.json", result(row("scan", "ring", 8, 1)))
        for more in (["allreduce"], ["--from", "a.json"]):
            done = self.bench(*more, *words, "o", **how)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"chorale-bench: {said}", done.stderr)
            self.assertNotIn("# allreduce", done.stdout)
            self.assertFalse((self.folder / "o").exists())

    def python_alone(self):
        """A PATH with only Python."""
        (self.folder / "bin").mkdir()
        (self.folder / "bin/python3").symlink_to(pathlib.Path(sys.executable).resolve())
        return str(self.folder / "bin")

    def test_without_gnuplot(self):
        path = self.python_alone()
        for option in ("--plot", "--report"):
            self.refused("chorale-plot: gnuplot is not installed (on Debian and Ubuntu: apt-get install gnuplot-nox)", option, PATH=path)

    def test_without_python(self):
        (self.folder / "empty").mkdir()
        self.refused("cannot draw: chorale-plot ended with status 127: ", "--plot", PATH=str(self.folder / "empty"))

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot-nox is not installed (tools/install-dependencies --ci)")
    def test_without_jinja(self):
        """Only reports need it."""
        self.write("jinja2.py", "raise ImportError")
        self.refused("chorale-plot: Jinja2 is not installed (on Debian and Ubuntu: apt-get install python3-jinja2)", "--report", PYTHONPATH=str(self.folder))
        self.measured("--from", "a.json", "--plot", "o", PYTHONPATH=str(self.folder))

    def test_without_the_program(self):
        """If chorale-bench alone was copied elsewhere."""
        shutil.copy(files_test.BENCH, self.folder / "alone")
        with unittest.mock.patch.object(files_test, "BENCH", self.folder / "alone"):
            self.refused("cannot draw: chorale-plot is neither beside this program nor in PATH: it comes with Chorale's tools", "--plot",
                         PATH=self.python_alone(), LD_LIBRARY_PATH=str(pathlib.Path(BENCH).parent.parent / "lib"))

    def test_gnuplot_that_fails(self):
        self.write("a.json", result(row("scan", "ring", 8, 1)))
        (self.folder / "o.svg").write_text("old", encoding="utf-8")
        for body, said in (("echo no terminal >&2; exit 3", "gnuplot ended with 3: no terminal"), ("kill -9 $$", "gnuplot ended with -9"),
                           ("echo strange >&2", "gnuplot drew nothing: strange")):
            (self.folder / "gnuplot").write_text(f"#!/bin/sh\ncat > /dev/null\n{body}\n", encoding="utf-8")
            (self.folder / "gnuplot").chmod(0o755)
            done = self.bench("--from", "a.json", "--plot", "o.svg", PATH=f"{self.folder}:{os.environ['PATH']}")
            self.assertEqual(done.returncode, 1)
            self.assertIn(said, done.stderr)
        self.assertEqual((self.folder / "o.svg").read_text(encoding="utf-8"), "old")

    def test_files_that_are_none(self):
        """Reading them must neither block nor continue without end."""
        os.mkfifo(self.folder / "pipe")
        for name, said in (("pipe", "it is no regular file"), ("/dev/zero", "it is no regular file"), (".", "it is a folder")):
            for option in "--from", "--set-ups":
                done = self.bench(option, name)
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertIn(f"{name}: ", done.stderr)
                self.assertIn(said, done.stderr)

    def test_results_that_are_none(self):
        good = row("scan", "ring", 8, 1)
        for document, said in (("{", "parse error"), ({}, 'it has no list "rows"'), ([], 'it has no list "rows"'), (result(good, ranks=0), '"ranks" must be a whole'),
                               (result(good, 7), "row 2: it must be an object"), (result({**good, "median": "fast"}), 'row 1: "median" must be a number'),
                               (result({**good, "bytes": -1}), 'row 1: "bytes" must be a whole number'), (result({**good, "samples": 1e99}), '"samples" must be'),
                               (result({**good, "algorithm": 3}), '"algorithm" must be a text'), (result({**good, "set_up": 3}), '"set_up" must be'),
                               ({**result(good), "about": 3}, '"about" must be'), (result(), "no row of these files")):
            done = self.bench("--from", self.write("a.json", document))
            self.assertEqual(done.returncode, 1, (document, done.stdout))
            self.assertIn(said, done.stderr)
        self.assertIn("nowhere.json: it cannot be opened: No such file", self.bench("--from", "nowhere.json").stderr)
        self.write("a.json", result(good))
        self.assertIn("no row of these files", self.bench("--from", "a.json", "barrier").stderr)
        for words in (["--json", "o.json"], ["--table", "t.json"], ["--set-ups", "s.json"], ["--from", "a.json", "--csv", "o.csv"]):
            self.assertEqual(self.bench("--from", "a.json", *words).returncode, 2, words)

    def test_table_of_earlier_results(self):
        done = self.measured("--from", self.write("a.json", result(row("scan", "ring", 8, 1.5, wrong_ranks=2, floor=0.5))))
        self.assertRegex(done.stdout, r"\n +8 rc +ring +1\.500 .* 7x9 +0\.500 +3\.00 +2 WRONG\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
