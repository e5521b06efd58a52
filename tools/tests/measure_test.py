#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/measure: `compare` with MPI libraries that are not right and a chorale-bench that makes its figures up, counts with a compiler and a valgrind that
do, and the smallest form of what measures here. Usage: measure_test.py BUILD MPIRUN|none"""
import csv
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import unittest
from unittest import mock

TOOLS = pathlib.Path(__file__).resolve().parent.parent
BUILD, MPIRUN = sys.argv[1:3]
sys.dont_write_bytecode = True
sys.path[:0] = [str(TOOLS), str(TOOLS / "tests")]

import fakes  # noqa: E402
import running  # noqa: E402
from measuring import mpi, process, trees  # noqa: E402
from measuring.comparison import result  # noqa: E402

program = running.script(TOOLS / "measure")


def measure(*words, **variables):
    """Runs the script. @returns (status, output, errors)"""
    return running.called(program, *words, **variables)


class Compare(fakes.Faked):
    """`compare`, from its options to its files."""

    def setUp(self):
        super().setUp()
        self.write("build/tools/chorale-bench", fakes.PROGRAM)
        for name in ("bench-loop", "peers-core"):
            self.write(f"build/tools/lib{name}.a", "")
        self.write("bin/mpirun.openmpi", fakes.LAUNCHER)
        self.write("fake/bin/mpirun", fakes.LAUNCHER)
        self.write("fake/bin/mpicc", fakes.COMPILER)
        for name in ("sh", "env", "cp", "sleep", "setsid"):
            (self.folder / "bin" / name).symlink_to(shutil.which(name))
        (self.folder / "bin" / "python3").symlink_to(pathlib.Path(sys.executable).resolve())
        self.variables = {"PATH": str(self.folder / "bin"), "VERSION": "mpirun (Open MPI) 5.0.1",
                          "PROGRAM": str(self.folder / "build/tools/chorale-bench"), "COMMANDS": str(self.folder / "commands"),
                          "ORPHANS": str(self.folder / "orphans"), "LOG": str(self.folder / "log")}

    def words(self, *words):
        """The options; MPI libraries of this machine are left out."""
        others = [] if "--choice" in words else ["--without", "mpich", "--without", "openmpi", "--without", "openmpi-ucx"]
        return ["compare", "--build", self.folder / "build", "--rounds", "1", "--sizes", "4,64", *others, *words]

    def compare(self, *words, **variables):
        """Runs `compare`. @returns (status, output, errors)"""
        return measure(*self.words(*words), **{**self.variables, **variables})

    def fake(self, name, options=""):
        """The option for a fake library."""
        return f"--mpi={name}={self.folder / 'fake'}:WHO={name} {options}"

    def row(self, said, begin):
        """The cells of a row of the table."""
        found = [line for line in said.splitlines() if line.startswith(f"| {begin} |")]
        self.assertEqual(len(found), 1, said)
        return [cell.strip() for cell in found[0].strip("|").split("|")]

    def test_crash(self):
        """A library that crashes in one operation is left out of its rows, with a remark, and keeps its other rows."""
        status, said, _ = self.compare(self.fake("bad", "BEHAVIOUR=crash WHERE=allreduce TAKES=20"), self.fake("good", "TAKES=40"),
                                       "barrier", "allreduce", "scan")
        self.assertEqual(status, 0)
        (why,) = [line for line in said.splitlines() if line.startswith("* bad, left out of ")]
        self.assertIn("allreduce 4 B, allreduce 64 B: ended with status 134: [31mlast words", why)
        self.assertNotIn("\x1b", said)
        self.assertEqual(self.row(said, "allreduce | 64")[2:6], ["10.000", "left out", "40.000", "0.25"])
        self.assertEqual(self.row(said, "scan | 64")[2:5], ["10.000", "20.000", "40.000"])
        # At each size, once with the other operations and once alone.
        self.assertEqual(sum("bad" in line and "allreduce" in line for line in self.lines("log")), 4, self.lines("log"))
        self.assertNotIn("not tried", said)

    def test_everywhere(self):
        """A contestant that always fails is given up."""
        _, said, _ = self.compare(self.fake("bad", "BEHAVIOUR=crash"), "barrier", "allreduce", "scan")
        self.assertIn("not tried after 3 failed runs in a row", said)
        self.assertEqual(sum("bad" in line for line in self.lines("log")), 3)
        self.assertEqual(self.row(said, "scan | 64")[2:4], ["10.000", "left out"])

    def test_chorale_crashes(self):
        status, said, _ = self.compare(self.fake("good", "BEHAVIOUR="), "allreduce", "scan", BEHAVIOUR="crash", WHERE="scan")
        self.assertEqual(status, 1)
        self.assertEqual(self.row(said, "scan | 4")[2:5], ["left out", "10.000", ""])
        self.assertEqual(self.row(said, "allreduce | 4")[2:5], ["10.000", "10.000", "1.00"])

    def test_stopped(self):
        """When the script is terminated, it ends the processes that it has started."""
        with subprocess.Popen([sys.executable, TOOLS / "measure", *self.words(self.fake("bad", "orphan BEHAVIOUR=hang"), "barrier")],
                              env=self.variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as stopped:
            deadline = time.monotonic() + 100
            while not ((self.folder / "orphans").exists() and self.lines("orphans")) and time.monotonic() < deadline:
                time.sleep(0.02)
            stopped.terminate()
            stopped.wait(100)
        self.none_is_left()

    def test_cannot_be_built(self):
        _, said, _ = self.compare(self.fake("bad"), "barrier", BROKEN="1")
        self.assertIn("bad: its program could not be built", said)
        self.assertIn("error: no such thing", said)
        self.assertIn("no row has the best peer to compare with", said)
        page = "<!-- made by tools/measure: here -->\nold\n<!-- end of here -->\n"
        self.write("page.md", page)
        status, _, errors = self.compare(self.fake("bad"), "barrier", "--page", f"{self.folder}/page.md:here", BROKEN="1")
        self.assertEqual(status, 2)
        self.assertIn("the page is kept, since a library would be missing: bad: its program could not be built", errors)
        self.assertEqual((self.folder / "page.md").read_text(encoding="utf-8"), page)
        self.write("fake/bin/mpicc", "#!/bin/sh\n")
        self.assertIn("wrote no program", self.compare(self.fake("bad"), "barrier")[1])

    def test_turns_and_files(self):
        """All take turns; the files contain everything."""
        self.write("page.md", "before\n<!-- made by tools/measure: here -->\nold\n<!-- end of here -->\nafter\n")
        status, said, errors = self.compare(
            self.fake("a", "TAKES=8"), self.fake("b-c", "TAKES=40"), "allreduce", "-n", "1,2", "--rounds", "2", "--csv", self.folder / "o.csv",
            "--json", self.folder / "o.json", "--page", f"{self.folder}/page.md:here")
        self.assertEqual(status, 0, errors)
        runs = [" ".join(line.split()[:3]) for line in self.lines("log")]
        self.assertEqual(runs[:6], ["chorale 1 4", "a 1 4", "b-c 1 4", "chorale 1 64", "a 1 64", "b-c 1 64"])
        self.assertEqual(runs[12:15], ["a 1 4", "b-c 1 4", "chorale 1 4"])
        for ranks in (1, 2):
            self.assertIn(f"{ranks} ranks: 0 of 2 rows not slower than the best peer; median ratio 1.25.", said)
            self.assertIn(f"{ranks} ranks: 2 of 2 rows above 1.05: allreduce 4 B 1.25 (a); allreduce 64 B 1.25 (a).", said)
        page = (self.folder / "page.md").read_text(encoding="utf-8")
        self.assertEqual(page, "before\n<!-- made by tools/measure: here -->\n" + said + "<!-- end of here -->\nafter\n")
        for word in ("Made by `tools/measure compare", "* processor: Fake\n* cores: ",
                     "a: Fake 1.2; launcher's options: WHO=a TAKES=8"):
            self.assertIn(word, said)
        rows = list(csv.DictReader(line for line in self.lines("o.csv") if not line.startswith("#")))
        self.assertEqual((len(rows), [row["median_us"] for row in rows[:3]]), (12, ["10", "8", "40"]))
        document = json.loads((self.folder / "o.json").read_text(encoding="utf-8"))
        self.assertEqual((document["rows"][1]["values"], document["machine"]["a"]), ([8, 8], "Fake 1.2; launcher's options: WHO=a TAKES=8"))

    @unittest.skipUnless(shutil.which("gnuplot") and importlib.util.find_spec("jinja2"),
                         "gnuplot-nox or python3-jinja2 is not installed (tools/install-dependencies --ci)")
    def test_pictures(self):
        """One result for each number of ranks, without the contestants that are left out."""
        (self.folder / "bin/gnuplot").symlink_to(shutil.which("gnuplot"))
        status, _, errors = self.compare(self.fake("a", "TAKES=8"), self.fake("b", "BEHAVIOUR=crash WHERE=scan"), "allreduce", "scan", "-n", "1,2",
                                         "--plot", self.folder / "o.svg", "--report", self.folder / "o.html")
        self.assertEqual(status, 0, errors)
        drawn = "\n".join(self.lines("o.svg"))
        for text in ("allreduce, 1 rank", "scan, 1 rank", "allreduce, 2 ranks", "scan, 2 ranks"):
            self.assertEqual(drawn.count(f"<text>{text}</text>"), 1, text)
        page = "\n".join(self.lines("o.html"))
        figures = [(size, *who) for who in (("chorale", 10), ("a", 8), ("b", 10)) for size in (4, 64)] * 2 + [
            (size, *who) for who in (("chorale", 10), ("a", 8)) for size in (4, 64)] * 2
        self.assertEqual(sorted((int(size), name, int(median)) for name, size, median in re.findall(
            r'<td class="name">(\w+)</td><td>(\d+)</td><td>(\d+)\.000</td><td>\3\.000</td><td>\3\.000</td>', page)), sorted(figures))
        self.assertIn(">processor</th>", page)
        for option in ("--csv", "--json", "--plot", "--report"):
            status, _, errors = self.compare(option, self.folder / "nowhere/o")
            self.assertEqual(status, 2)
            self.assertIn(f"{option}: cannot write {self.folder}/nowhere/o: No such file", errors)

    def test_choice(self):
        _, said, _ = self.compare("--choice", "allreduce", "--bound", "1.2")
        self.assertEqual(self.row(said, "allreduce | 4")[2:], ["10.000", "9.000", "`tree`", "1.11"])
        self.assertEqual(self.row(said, "allreduce | 64")[2:], ["10.000", "8.000", "`ring`", "1.25"])
        self.assertIn("1 of 2 rows above 1.2: allreduce 64 B 1.25 (ring).", said)
        (self.folder / "log").unlink()
        status, said, _ = self.compare("--choice", "allreduce", "--rounds", "2", BEHAVIOUR="late")
        self.assertEqual((status, self.row(said, "allreduce | 4")[2]), (1, "left out"))
        self.assertIn("no row has the best other algorithm", said)

    def test_launchers(self):
        """Each kind of launcher gets its own options; those that the user gives are not repeated."""
        cores = len(os.sched_getaffinity(0))
        for version, ranks, options, words in (
                ("mpirun (Open MPI) 4.1.4", 1, "", "--bind-to core"),
                ("mpirun (Open MPI) 4.1.4", 1, "--bind-to none", "--bind-to none"),
                ("mpirun (Open MPI) 4.1.4", cores + 1, "", "--oversubscribe --bind-to none --mca mpi_yield_when_idle 1"),
                ("mpirun (Open MPI) 5.0.1", cores + 1, "", "--map-by :OVERSUBSCRIBE --bind-to none --mca mpi_yield_when_idle 1"),
                ("HYDRA build details: Version: 4.0.2", 1, "", "-bind-to core"),
                ("HYDRA build details: Version: 4.0.2", cores + 1, "", ""),
                ("Intel(R) MPI Library, HYDRA", 1, "", "")):
            self.write("fake/bin/mpirun", f"#!/bin/sh\necho '{version}'\n")
            one = mpi.parse(f"a={self.folder / 'fake'}:{options}")
            self.assertEqual(mpi.words(one, mpi.kind(one), ranks, ranks > cores), [one.launcher, "-n", str(ranks), *words.split()])

    def test_who_launches_chorale(self):
        """Debian's Open MPI, else the first Open MPI among the others, without the options of their own runs."""
        self.write("other/bin/mpirun", fakes.LAUNCHER.replace("$VERSION", "HYDRA"))
        self.write("other/bin/mpicc", fakes.COMPILER)
        words = (f"--mpi=b={self.folder / 'other'}:WHO=b", self.fake("a"), "scan", "--sizes", "4")
        self.assertEqual(self.compare(*words)[0], 0)
        (self.folder / "bin/mpirun.openmpi").unlink()
        status, _, errors = self.compare(*words)
        self.assertEqual(status, 0, errors)
        self.assertEqual([line.split()[0] for line in self.lines("log")], ["chorale", "b", "a"] * 2)
        self.assertTrue(self.lines("commands")[3].startswith(f"-n 2 --bind-to core {self.folder}/build/tools/chorale-bench"))
        status, _, errors = self.compare(words[0])
        self.assertEqual(status, 2)
        self.assertIn("Chorale needs a launcher with PMIx", errors)

    def test_over_ucx(self):
        """Debian's Open MPI over UCX has its own name and the program built for Open MPI, and does not affect Chorale's runs."""
        self.write("build/tools/mpi-peers-openmpi", fakes.PROGRAM)
        _, said, errors = measure("compare", "--build", self.folder / "build", "--rounds", "1", "--sizes", "4", "--without", "mpich", "scan", **self.variables)
        self.assertIn("| operation | bytes | chorale us | openmpi us | openmpi-ucx us |", said, errors)
        (command,) = [line for line in self.lines("commands") if "--mca pml ucx" in line]
        self.assertIn("/tools/mpi-peers-openmpi scan", command)

    def test_mistakes(self):
        for words, why in ((["--mpi", "a"], "NAME=PREFIX"), (["--mpi", "a=/nowhere"], "needs mpicc"), (["--mpi", "a b=/usr"], "NAME"),
                           ([self.fake("mpich")], "the name mpich is taken"), ([self.fake("a"), self.fake("a")], "the name a is taken"),
                           (["-n", "two"], "--ranks: takes whole numbers"), (["--sizes", "0"], "--sizes: takes whole numbers"),
                           (["--budget", "0"], "--budget: takes more than 0 seconds"), (["--choice", self.fake("a")], "leave --mpi"),
                           (["--page", "x"], "FILE:NAME"), (["--page", "/nowhere:x"], "/nowhere"),
                           (["--page", f"{self.folder}/bin/mpirun.openmpi:x"], "does not have the lines '<!-- made by tools/measure: x -->' and"), (["sum"], "no such collective"),
                           (["--plot", "o"], "--plot: gnuplot is not installed (on Debian and Ubuntu: apt-get install gnuplot-nox)"),
                           (["--report", "o"], "--report: gnuplot is not installed")):
            status, _, errors = self.compare(*words)
            self.assertEqual(status, 2, words)
            self.assertIn(why, errors)
        (self.folder / "build/tools/chorale-bench").unlink()
        status, _, errors = self.compare(self.fake("a"))
        self.assertEqual(status, 2)
        self.assertIn("chorale-bench is not built", errors)
        self.assertFalse((self.folder / "log").exists())


class Process(fakes.Faked):
    """Commands that leave no process behind."""

    def run_it(self, script, limit):
        """Runs a script that leaves a process behind in a separate session."""
        orphan = (f"setsid sh -c 'echo $$ >> {self.folder}/orphans; trap \"\" TERM; sleep 1000 & wait; wait' & "
                  f"while ! [ -s {self.folder}/orphans ]; do sleep 0.02; done; ")
        with mock.patch.object(process, "GRACE", 0.5):
            return process.run(["sh", "-c", orphan + script], dict(os.environ), limit)

    def test_hangs(self):
        shared = pathlib.Path(f"/dev/shm/measure-test-{os.getpid()}")
        self.addCleanup(shared.unlink, missing_ok=True)
        mapping = f"import mmap, time; f = open('{shared}', 'w+b'); f.truncate(4096); m = mmap.mmap(f.fileno(), 4096); time.sleep(1000)"
        with self.assertRaisesRegex(process.Refused, "took more than 3 s"):
            self.run_it(f"trap '' TERM; {sys.executable} -I -S -c \"{mapping}\"", 3)
        self.none_is_left()
        self.assertFalse(shared.exists())

    def test_interrupted(self):
        """Interrupted by a signal immediately after the start."""
        def interrupt(*_):
            while not (self.folder / "orphans").exists() or not self.lines("orphans"):
                time.sleep(0.02)
            sys.exit(143)
        with mock.patch.object(process, "Said", interrupt), self.assertRaises(SystemExit):
            self.run_it("sleep 1000", 100)
        self.none_is_left()

    def test_ends(self):
        self.assertEqual(self.run_it("echo here", 100), "here\n")
        self.none_is_left()

    def test_fails(self):
        """Messages of Chorale's programs precede those of the launcher, and errors precede other output."""
        said = "error: a launcher\nchorale-bench: rank 1: wrong\n-----\nchorale-bench: rank 1: wrong\nchorale-bench: all\n"
        with self.assertRaisesRegex(process.Refused, "(?s)^sh -c .* ended with status 3: chorale-bench: rank 1: wrong / chorale-bench: all$"):
            process.run_named(["sh", "-c", 'printf %s "$0"; exit 3', said], dict(os.environ), 100)
        with self.assertRaisesRegex(process.Refused, "ended with status 3: x.cpp:1: error: y$"):
            process.run(["sh", "-c", "yes nonsense | head -c 300000; printf '\\377\\n'; echo x.cpp:1: error: y >&2; exit 3"], dict(os.environ), 100)


class Result(fakes.Faked):
    """Output that programs of a comparison may write."""

    def read(self, text):
        """Reads a result file with this text."""
        self.write("result.json", text)
        return result.read(self.folder / "result.json", result.points_of(2, ["barrier", "scan"], 4), "median", 100)

    @staticmethod
    def document(value, ranks=2):
        """A result with this value as the time of a scan."""
        return json.dumps({"about": {}, "ranks": ranks, "rows": [{"operation": "barrier", "algorithm": "a", "bytes": 0, "median": 1},
                                                                {"operation": "scan", "algorithm": "a", "bytes": 4, "median": value}]})

    def test_garbage_numbers(self):
        for value, why in ((float("nan"), "wrote nan where a time belongs"), (-3.0, "wrote -3 us, less than any call takes"),
                           (1e300, "wrote 1e+300 us, more than the whole run took"), ("fast", "wrote 'fast' where a time belongs"),
                           (0, "wrote 0 us, less than any call takes"), (True, "wrote True where a time belongs"), (None, "wrote None where a time belongs")):
            _, _, (barrier,), without = self.read(self.document(value))
            self.assertEqual((barrier.value, list(without.values())), (1, [why]))

    def test_nonsense(self):
        for text, why in (("{nonsense", "wrote a result that is no JSON"), ('{"about": {}, "ranks": 2, "rows": 7}', "lacks ranks, rows"),
                          (self.document(1, 1), "ran on 1 ranks, not 2: its launcher and its library do not belong together")):
            with self.assertRaisesRegex(process.Refused, why):
                self.read(text)
        self.assertEqual(list(self.read('{"about": {}, "ranks": 2, "rows": []}')[3].values()), ["wrote no figure"] * 2)
        (self.folder / "result.json").unlink()
        with self.assertRaisesRegex(process.Refused, "wrote no result"):
            result.read(self.folder / "result.json", result.points_of(2, ["scan"], 4), "median", 100)


class Counts(fakes.Faked):
    """Counts by a fake compiler and a fake valgrind."""

    def setUp(self):
        super().setUp()
        for name, text in fakes.COUNTING.items():
            self.write(f"bin/{name}", text)
        self.write("lib/libchorale.so", "")
        self.variables = {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "CXX": str(self.folder / "bin" / "compiler")}

    @unittest.skipUnless(shutil.which("git"), "git is not installed (tools/install-dependencies --ci)")
    def test_commits(self):
        """Calls that are dearer by more than the limit are marked."""
        for words in (["init", "-q"], ["add", "lib"], ["-c", "user.name=a", "-c", "user.email=a", "commit", "-qm", "a"]):
            subprocess.run(["git", "-C", self.folder, *words], check=True)
        with mock.patch.object(trees, "ROOT", self.folder):
            for limit, status, mark, last in ((1, 1, " **dearer**", "1 call is dearer by more than 1 %"), (20, 0, "", "no call is dearer by more than 20 %")):
                done, said, errors = measure("instructions", "HEAD", "--runs", 1, "--limit", limit, "--transports", "rc", "--in", self.folder / "in",
                                             **self.variables)
                self.assertEqual(done, status, errors)
                self.assertRegex(said, r"^\| transport \| call \| bytes \| [0-9a-f]{10} \| here \| % \|\n")
                self.assertIn(f"| rc | put_run | 8 | 100 | 110 | +10.0{mark} |\n| rc | put_start | 8 | 120 | 120 | +0.0 |\n\n{last}", said)
        status, _, errors = measure("instructions", "nothing", "--in", self.folder / "in", **self.variables)
        self.assertEqual(status, 2)
        self.assertIn("fatal: Needed a single revision", errors)
        self.assertEqual(measure("instructions")[0], 2)

    def test_plans(self):
        status, said, errors = measure("instructions", "--plans", "--runs", 2, "--library", self.folder / "lib", "--in", self.folder / "here", **self.variables)
        self.assertEqual(status, 1, errors)
        self.assertIn("| put | 8 | 100 | 120 | 110 | 120 | 1.100 | 1.000 | **dearer**\n", said)

    def test_layers(self):
        words = ("layers", "--calls", 2, "--library", self.folder / "lib")
        status, said, errors = measure(*words, **self.variables)
        self.assertEqual(status, 0, errors)
        self.assertIn("| barrier | 0 | 40 | 0 | 10 | 0 | 0 | 0 | 50 | 10 | 0 | 1.5 |\n", said)
        self.assertIn("   40.0  lib/soft/x.cpp:7 ", measure(*words, "--lines", "barrier/0", **self.variables)[1])
        for more, silent, why in ((("--lines", "barrier/7"), "", "there is no barrier/7: barrier/0"), ((), "1", "has left no counts")):
            status, _, errors = measure(*words, *more, **self.variables, SILENT=silent)
            self.assertEqual(status, 2)
            self.assertIn(why, errors)


class Real(fakes.Faked):
    """The smallest real measurements."""

    def setUp(self):
        super().setUp()
        if MPIRUN == "none":
            self.skipTest("mpirun.openmpi is not there, or this build has no PMIx")

    def measured(self, *words):
        """The output of a measurement that must succeed."""
        status, said, errors = measure(words[0], "--build", BUILD, *words[1:])
        self.assertEqual(status, 0, errors)
        return said

    def test_floor(self):
        self.assertRegex(self.measured("floor", "--rounds", 1, "--sizes", 4096, "--cores", "0,0"),
                         r"\| flag in shared memory, one way \| 8 \| [\d.]+ \| ns \|\n\| memcpy \| 4096 \| [1-9]\d* \| MB/s \|\n$")

    def test_resources(self):
        """The part of the page's table that was requested."""
        self.write("page.md", "<!-- made by tools/measure: x -->\n<!-- end of x -->")
        said = self.measured("resources", "--ranks", "2", "--page", f"{self.folder}/page.md:x")
        self.assertEqual((self.folder / "page.md").read_text(encoding="utf-8"), f"<!-- made by tools/measure: x -->\n{said}<!-- end of x -->")
        there = (TOOLS.parent / "docs/resources.md").read_text(encoding="utf-8")
        for line in said.splitlines():
            self.assertIn(line + "\n", there)
        self.assertIn("| ud | 2 | 1 |", self.measured("resources", "--processes", 2))

    @unittest.skipIf(not pathlib.Path(BUILD, "tools/chorale-sim").exists(), "chorale-sim is not built: Boost.Context is missing")
    def test_in_virtual_time(self):
        said = self.measured("predict", "--runs", 1, "--machine", "hdr-64core", "--sizes", "8", "barrier")
        self.assertRegex(said, r"(?s)barrier +dissemination +0 +[\d.]+ +[\d.]+ +[+-]\d+%\n.*\n\d+ of \d+ predictions are within 25 %")
        self.assertIn("\n1 of 1 rows are within", self.measured("choice", "--machine", "hdr-64core", "--ranks", 8, "--sizes", 8, "alltoall"))

    @unittest.skipIf(not pathlib.Path(BUILD, "lib/preload/libchorale-soft.so").exists(), "this build has no lib/preload")
    @unittest.skipIf(shutil.which("ib_write_lat") is None, "perftest is not installed (tools/install-dependencies --ci)")
    def test_perftest(self):
        self.assertRegex(self.measured("perftest", "--rounds", 1, "ib_write_lat"), r"\| `ib_write_lat -c UC` \| \d+ \| [\d.]+ \|\n$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
