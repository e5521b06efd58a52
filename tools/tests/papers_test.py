#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/papers with measurements made up by a fake chorale-bench. Usage: papers_test.py"""
import csv
import os
import pathlib
import signal
import stat
import subprocess
import sys
import time
import unittest
from unittest import mock

sys.dont_write_bytecode = True
TOOLS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TOOLS), str(TOOLS / "tests")]

import running  # noqa: E402
from papers_figures import catalogue, figure, launch, measure, plot, report  # noqa: E402

papers = running.script(TOOLS / "papers")

# Each contestant takes a different time, multiplied by its ranks; CALLS counts the runs, so that each returns another
# value.
BENCH = """#!/usr/bin/env -S python3 -I -S
import json, os, pathlib, sys, time
given = dict(zip(sys.argv[1::1], sys.argv[2::1]))
plan = json.loads(pathlib.Path(given["--set-ups"]).read_text())
ranks = int(os.environ["RANKS"])
log = pathlib.Path(os.environ["LOG"])
run = sum(f"ranks {ranks} " in line for line in (log.read_text().splitlines() if log.exists() else []))
with log.open("a") as out:
    print(f"ranks {ranks} ", sorted((one["operation"], one["sizes"]) for one in plan["set_ups"]), file=out)
log.with_name("pid").write_text(str(os.getpid()))
time.sleep(float(os.environ.get("SLEEP", "0")))
rows = []
for one in plan["set_ups"]:
    for size in one["sizes"] or [0]:
        for contestant in one["contestants"]:
            if contestant["algorithm"] == os.environ.get("UNUSABLE"):
                continue
            value = {"rc": 10.0, "rc_send_receive": 20.0}.get(contestant["transport"], 30.0) * ranks
            rows.append({"set_up": one["name"], "contestant": contestant["name"], "operation": one["operation"], "bytes": size,
                         "median": value * [1, 7, 2, 0.5, 3][run % 5], "wrong_ranks": int(os.environ.get("WRONG", "0"))})
pathlib.Path(given["--json"]).write_text(json.dumps({"about": {"device": "soft7 (it is first)"}, "rows": rows}))
sys.exit(int(os.environ.get("STATUS", "0")))
"""
PROGRAM = """#!/usr/bin/env -S python3 -I -S
import json, pathlib, sys
given = dict(zip(sys.argv[1::1], sys.argv[2::1]))
pathlib.Path(given["--json"]).write_text(json.dumps({"rows": [
    {"contestant": "polling", "at": {"queue_pairs": n}, "value": 4.0 * n, "unit": "MB/s", "wrong": 0} for n in (1, 16)]}))
"""
# The model's time is ten times its parameter.
MODEL = """#!/usr/bin/env -S python3 -I -S
import json, pathlib, sys
given = dict(zip(sys.argv[1::1], sys.argv[2::1]))
pathlib.Path(given["--json"]).write_text(json.dumps({"rows": [
    {"contestant": "model", "at": {"ranks": int(given["--ranks"])}, "value": 10 * float(given["--startup"]), "unit": "us"}]}))
"""
FAST = figure.Contestant("fast", "rc", "pairwise_exchange", (("CHORALE_BLOCKS", 4),))
SLOW = figure.Contestant("slow|er", "rc_send_receive", "pairwise_exchange")
BARRIER = figure.Bench("barrier", (FAST, SLOW), (2, 4), small_ranks=(3,))
REDUCE = figure.Bench("allreduce", (FAST, SLOW), (4,), (4, 4096), small_sizes=(8,))
QUEUES = figure.Program("queues", ("--many",), small_arguments=("--few",), once=True)
AT_4 = figure.at_each(ranks=4)
FIT = figure.Fit(QUEUES, lambda results: {"ts": results.value("polling", queue_pairs=1)} if results.rows else None,
                 (("--startup", "ts"),))
MODELLED = figure.model("allgather", (4,), (8,), fit=FIT)


def one_figure(name="P1.1", set_ups=(BARRIER,), x="ranks", **more):
    """A figure of made-up data."""
    return figure.Figure(name, "made up", "P1 section 6", set_ups, x, **more)


class Fakes(running.InFolder):
    """Fake programs."""

    def setUp(self):
        super().setUp()
        (self.folder / "tools").mkdir()
        for name, text in (("chorale-bench", BENCH), ("queues", PROGRAM), ("papers-model", MODEL)):
            path = self.folder / "tools" / name
            path.write_text(text, encoding="utf-8")
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
        self.environment(LOG=str(self.folder / "log"))
        self.launcher = launch.Launcher("env RANKS={ranks}", 20)

    def environment(self, **variables):
        """Sets variables until the end of the test."""
        for name, value in variables.items():
            before = os.environ.get(name)
            os.environ[name] = value
            self.addCleanup(lambda n=name, b=before: os.environ.pop(n) if b is None else os.environ.__setitem__(n, b))

    def log(self):
        """The recorded launches."""
        return (self.folder / "log").read_text(encoding="utf-8").splitlines()

    def measure(self, *figures, runs=1, **which):
        """Results of the fake programs."""
        return measure.measure(figures, self.folder / "tools", self.launcher, launch.SMALL, runs, **which)

    def papers(self, *arguments, figures):
        """(exit status, output, errors) of the script with these figures alone."""
        with mock.patch.object(catalogue, "all_figures", lambda: list(figures)):
            return running.called(papers, "--build", self.folder, "--launcher", "env RANKS={ranks}", *arguments)


class Measuring(Fakes):
    """The launches, and the results made of them."""

    def test_medians_over_interleaved_runs(self):
        results = self.measure(one_figure(), runs=5)["P1.1"]
        self.assertEqual(results.value("fast", ranks=2), 40)  # 20, 140, 40, 10 and 60
        row = results.row("slow|er", {"ranks": 4})
        self.assertEqual((row.value, row.least, row.most, row.runs, row.unit), (160, 40, 560, 5, "us"))
        self.assertEqual([line.split()[1] for line in self.log()], ["2", "4"] * 5)

    def test_one_launch_for_all_that_have_the_same_ranks(self):
        results = self.measure(one_figure(), one_figure("P2.1", (REDUCE,), "bytes"), one_figure("P3.1", (BARRIER, REDUCE)))
        self.assertEqual(self.log(), ["ranks 2  [('barrier', [])]", "ranks 4  [('allreduce', [4, 4096]), ('barrier', [])]"])
        self.assertEqual(len(results["P1.1"].rows), 4)
        self.assertEqual(results["P2.1"].value("fast", bytes=4096), 40)
        self.assertEqual(len(results["P3.1"].rows), 8)

    def test_another_environment_is_another_launch(self):
        other = figure.Bench("barrier", (FAST,), (2,), environment=(("CHORALE_SOFT_CONTEXTS", 4),))
        self.measure(one_figure(), one_figure("P5.1", (other,)))
        self.assertEqual([line.split()[1] for line in self.log()], ["2", "4", "2"])

    def test_small(self):
        both = one_figure(set_ups=(BARRIER, REDUCE))
        self.measure(both, small=True)
        self.assertEqual(self.log(), ["ranks 3  [('allreduce', [8]), ('barrier', [])]"])

    def test_other_ranks(self):
        results = self.measure(one_figure(), ranks=[6])["P1.1"]
        self.assertEqual({row.at for row in results.rows}, {(("ranks", 6),)})

    def test_headline_measures_its_points_alone(self):
        one = one_figure(set_ups=(BARRIER, REDUCE), x="bytes", claims=(
            figure.Faster("one", "fast", "slow|er", figure.at_each(ranks=4, bytes=4)),))
        self.measure(one, points=measure.wanted_points([one], [(one, one.claims[0])]))
        self.assertEqual(self.log(), ["ranks 4  [('allreduce', [4]), ('barrier', [])]"])

    def test_programs_run_once_if_they_compute(self):
        results = self.measure(one_figure("P5.6", (QUEUES,), "queue_pairs"), runs=3)["P5.6"]
        self.assertEqual([(row.value, row.runs) for row in results.rows], [(4, 1), (64, 1)])

    def failures(self, *figures):
        """The failures of the last of these figures."""
        return self.measure(*figures)[figures[-1].name].failures

    def test_wrong_results_fail(self):
        self.environment(WRONG="1")
        results = self.measure(one_figure())["P1.1"]
        self.assertRegex(results.failures[0], "fast at .*1 results were wrong")
        self.assertEqual(results.rows, [])

    def test_programs_that_fail(self):
        self.environment(STATUS="3")
        self.assertIn("ended with status 3", self.failures(one_figure())[0])

    def test_the_others_go_on(self):
        self.environment(STATUS="3")
        results = self.measure(one_figure(), one_figure("P5.6", (QUEUES,), "queue_pairs"), runs=2)
        self.assertEqual((len(results["P1.1"].failures), len(results["P5.6"].failures), len(results["P5.6"].rows)), (4, 0, 2))

    def test_programs_that_hang(self):
        self.environment(SLEEP="50")
        self.launcher.time_limit = 0.5
        began = time.monotonic()
        self.assertIn("took more than 0.5 s", self.failures(one_figure())[0])
        self.assertLess(time.monotonic() - began, 20)

    def test_programs_end_with_the_script(self):
        self.environment(SLEEP="50")
        note = self.folder / "pid"
        with subprocess.Popen([TOOLS / "papers", "P1.6", "--build", self.folder, "--launcher", "env RANKS={ranks}"],
                              stdout=subprocess.DEVNULL) as script:
            while not (note.exists() and note.read_text(encoding="utf-8")) and script.poll() is None:
                time.sleep(0.01)
            script.terminate()
            self.assertEqual(script.wait(20), 128 + signal.SIGTERM)
        with self.assertRaises(ProcessLookupError):
            os.kill(int(note.read_text(encoding="utf-8")), 0)

    def test_contestants_apart(self):
        together = self.measure(one_figure())["P1.1"]
        self.assertEqual(len(self.log()), 2)
        self.launcher.apart = True
        apart = self.measure(one_figure())["P1.1"]
        self.assertEqual([line.split()[1] for line in self.log()[2:]], ["2", "2", "4", "4"])
        self.assertEqual([(row.contestant, row.at) for row in apart.rows], [(row.contestant, row.at) for row in together.rows])

    def test_programs_that_are_not_built(self):
        self.assertIn("no-such is not built", self.failures(one_figure(set_ups=(figure.Program("no-such"),)))[0])

    def test_programs_that_write_nothing(self):
        (self.folder / "tools" / "queues").write_text("#!/bin/sh\n", encoding="utf-8")
        self.assertIn("no result was written", self.failures(one_figure(set_ups=(QUEUES,)))[0])

    def test_what_the_device_cannot_run_is_told(self):
        multicast = figure.Bench("barrier", (FAST, figure.Contestant("RGM", "rc", "gather_multicast<7>")), (2,))
        self.environment(UNUSABLE="gather_multicast<7>")
        results = self.measure(one_figure(set_ups=(multicast,)))["P1.1"]
        self.assertIn("RGM was not measured", results.problems[0])
        self.assertEqual(len(results.rows), 1)


class Models(Fakes):
    """Models whose parameters are computed from measurements."""

    def figure(self):
        """Barriers, and a model of them."""
        return one_figure(set_ups=(BARRIER, MODELLED), model="The model has ts = {ts} us.")

    def test_parameters_are_fitted(self):
        results = self.measure(self.figure(), runs=3)["P1.1"]
        row = results.row("model", {"ranks": 4})
        self.assertEqual((row.value, row.runs, results.parameters), (40, 1, {"ts": 4}))
        self.assertEqual({row.contestant for row in results.rows}, {"fast", "slow|er", "model"})
        self.assertIn("The model has ts = 4 us.", report.section(self.figure(), results, None))

    def test_other_ranks(self):
        results = self.measure(self.figure(), ranks=[6])["P1.1"]
        self.assertEqual({row.at for row in results.rows}, {(("ranks", 6),)})

    def test_what_they_follow_from_is_a_failure_of_the_figure(self):
        (self.folder / "tools" / "queues").write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
        results = self.measure(self.figure())["P1.1"]
        self.assertIn("ended with status 3", results.failures[0])
        self.assertIn("what its parameters follow from was not measured", results.failures[1])
        self.assertEqual({row.contestant for row in results.rows}, {"fast", "slow|er"})
        self.assertNotIn("ts =", report.section(self.figure(), results, None))


class Claims(Fakes):
    """The judgement of results."""

    def judge(self, claim, set_ups=(BARRIER, REDUCE)):
        """The verdict of a claim."""
        verdict = claim.judge(self.measure(one_figure(set_ups=set_ups))["P1.1"])
        return verdict.ours, verdict.agrees

    def test_faster(self):
        self.assertEqual(self.judge(figure.Faster("", "fast", "slow|er", AT_4, 1.25)), ("2.00x", True))
        self.assertEqual(self.judge(figure.Faster("", "slow|er", "fast", AT_4, 1.25)), ("0.50x", False))
        self.assertEqual(self.judge(figure.Faster("", "slow|er", "fast", AT_4, slower=True)), ("2.00x as long", True))
        self.assertEqual(self.judge(figure.Faster("", "slow|er", "fast", AT_4, 0.9)), ("2.00x as long", True))
        self.assertEqual(self.judge(figure.Faster("", "fast", "fast", AT_4, 1.9, than_at=figure.at_each(ranks=2))), ("0.50x", False))

    def test_up_to(self):
        self.assertEqual(self.judge(figure.Faster("", "fast", "slow|er", figure.at_each(ranks=(2, 4)), 1.6, most=True)), ("2.00x", True))
        for most in (False, True):  # nothing was measured at 3
            self.assertEqual(self.judge(figure.Faster("", "fast", "slow|er", figure.at_each(ranks=(2, 3, 4)), 1.6, most=most)), (None, None))

    def test_of_rates_more_is_better(self):
        rates = (QUEUES,)
        at_16, at_1 = figure.at_each(queue_pairs=16), figure.at_each(queue_pairs=1)
        self.assertEqual(self.judge(figure.Faster("", "polling", "polling", at_16, than_at=at_1), rates), ("16.00x", True))

    def test_best(self):
        self.assertEqual(self.judge(figure.Best("", "fast", ("fast", "slow|er"), AT_4)), ("fast (fast: 2.00x)", True))
        self.assertEqual(self.judge(figure.Best("", "slow|er", ("fast", "slow|er"), AT_4)), ("fast (slow|er: 0.50x)", False))

    def test_computed(self):
        def computed(paper, contestant):
            return figure.Computed("", paper, lambda results: results.value(contestant, ranks=4), 1)
        results = self.measure(one_figure())["P1.1"]
        for paper, contestant, said in ((41, "fast", ("40.00", True)), (42, "fast", ("40.00", False)), (42, "no", (None, None))):
            verdict = computed(paper, contestant).judge(results)
            self.assertEqual((verdict.ours, verdict.agrees), said)


class Reports(Fakes):
    """Complete runs of the script."""

    def figures(self, **more):
        """Two figures of two papers."""
        return [one_figure(claims=(figure.Faster("it wins", "fast", "slow|er", AT_4, 1.5),
                                   figure.Faster("it would win", "slow|er", "fast", AT_4, 1.5, network="no wire")),
                           cannot="a wire.", **more),
                one_figure("P5.6", (QUEUES,), "queue_pairs")]

    def test_list(self):
        status, out, _ = self.papers(figures=self.figures())
        self.assertEqual((status, [line.split()[0] for line in out.splitlines()]), (0, ["P1.1", "P5.6"]))

    def test_all(self):
        page = self.folder / "page.md"
        page.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nbehind\n", encoding="utf-8")
        status, out, _ = self.papers("--all", "--runs", "1", "--out", str(self.folder / "out"), "--into", str(page),
                                     figures=self.figures())
        self.assertEqual(status, 0)
        self.assertRegex(out, r"it wins +1.50x +2.00x +yes +NO")
        self.assertRegex(out, r"it would win +1.50x +0.50x +NO +no: needs a network")
        with (self.folder / "out" / "P1.1.csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(rows[0], {"figure": "P1.1", "ranks": "2", "fast, us": "20", "slow|er, us": "40"})
        self.assertEqual(len(rows), 2)
        text = (self.folder / "out" / "P1.md").read_text(encoding="utf-8")
        self.assertIn("| ranks | fast, us | slow\\|er, us |\n|---:|---:|---:|\n| 2 | 20.0 | 40.0 |\n| 4 | 40.0 | 80.0 |\n", text)
        self.assertIn("What soft0 cannot show: a wire.", text)
        self.assertEqual(plot.can(), "![made up](P1.1.svg)" in text)
        self.assertEqual(plot.can(), (self.folder / "out" / "P5.6.svg").is_file())
        table = page.read_text(encoding="utf-8")
        self.assertIn("| P1.1 | it wins | 1.50x | 2.00x | +50 | 200 % | yes | NO |", table)
        self.assertIn("| P1.1 | it would win | 1.50x |  |  |  |  | needs a network: no wire |", table)
        self.assertLess(table.index("How a claim is judged"), table.index("| P1.1 |"))
        self.assertIn("[P1](out/P1.md), [P5](out/P5.md)", table)
        self.assertIn("on soft7, ", table)
        self.assertLessEqual(max(len(line) for line in table.splitlines() if not line.startswith("| ")), 170)
        self.assertNotIn("old", table)
        self.assertTrue(table.startswith("before\n") and table.endswith("\nbehind\n"), table)

    def test_pages_without_marks(self):
        page = self.folder / "page.md"
        for text in ("", report.BEGIN, report.END + report.BEGIN, report.BEGIN + report.END + report.END):
            page.write_text(text, encoding="utf-8")
            status, _, errors = self.papers("--headline", "--into", str(page), figures=self.figures())
            self.assertEqual((status, page.read_text(encoding="utf-8")), (2, text))
            self.assertIn("once each", errors)

    def test_without_gnuplot(self):
        real, plot.can = plot.can, lambda: False
        self.addCleanup(setattr, plot, "can", real)
        status, _, errors = self.papers("P1", "--runs", "1", "--out", str(self.folder / "out"), figures=self.figures())
        self.assertEqual(status, 0)
        self.assertIn("no plot of P1.1: gnuplot is not installed", errors)
        self.assertNotIn("svg", (self.folder / "out" / "P1.md").read_text(encoding="utf-8"))

    def test_what_is_shown(self):
        one = one_figure(shown=("fast",), only=(("ranks", (4,)),))
        self.assertEqual(report.grid(one, self.measure(one)[one.name]), (["ranks", "fast, us"], [["4", "40.0"]]))
        self.assertEqual(report.grid(one, self.measure(one, ranks=[5])[one.name]), (["ranks", "fast, us"], [["5", "50.0"]]))

    def test_plots_quote_what_is_not_theirs(self):
        drawn = plot.script(self.figures()[0], self.measure(self.figures()[0])["P1.1"])
        self.assertIn(r'title "slow\174er"', "\n".join(drawn))

    def test_strict(self):
        figures, loses = self.figures(), one_figure("P1.2", claims=(figure.Faster("it does not", "slow|er", "fast", AT_4),))
        figures[0] = one_figure(claims=(figure.Faster("it wins", "fast", "slow|er", AT_4, 1.95),))
        self.assertEqual(self.papers("P1.1", "--runs", "1", "--strict", figures=figures)[0], 0)
        self.assertEqual(self.papers("P1.2", "--runs", "1", figures=[*figures, loses])[0], 0)
        self.assertEqual(self.papers("P1.2", "--runs", "1", "--strict", figures=[*figures, loses])[0], 1)

    def test_wrong_results_are_a_failure(self):
        self.environment(WRONG="2")
        status, _, errors = self.papers("P1.1", figures=self.figures())
        self.assertEqual(status, 1)
        self.assertIn("2 results were wrong", errors)

    def test_small_needs_all_of_it(self):
        self.environment(UNUSABLE="pairwise_exchange")
        self.assertEqual(self.papers("P1.1", "--small", figures=self.figures())[0], 1)

    def test_no_launcher(self):
        for launcher in ("none", "no-such-launcher {ranks}"):
            status, _, errors = self.papers("P1.1", "--launcher", launcher, figures=self.figures())
            self.assertEqual(status, papers.SKIPPED)
            self.assertIn("skipped", errors)

    def test_mistakes(self):
        for arguments in (["P9.9"], ["--all", "--headline"], ["P1", "--runs", "0"], ["P1", "--ranks", "2,x"], ["P1", "--ranks", "0"], ["P1", "--from", "x"],
                          ["P1", "--launcher", "mpirun"], ["P1", "--budget", "-1"], ["P1", "--into", "x"], ["P1", "--with", "host.look=0"],
                          ["--all", "--into", "/nowhere"], ["P1", "--out", "/proc/here"], ["P1", "--virtual", "--with", "host.look"]):
            status, _, errors = self.papers(*arguments, figures=self.figures())
            self.assertEqual(status, 2, arguments)
            self.assertTrue(errors, arguments)


if __name__ == "__main__":
    unittest.main(verbosity=2)
