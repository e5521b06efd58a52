#!/usr/bin/env python3
"""tools/compare with MPI libraries that are not right, and a chorale-bench that makes its figures up. Usage: compare_test.py"""
import csv
import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(TOOLS / "tests"))

from fake_mpi import COMPILER, LAUNCHER, PROGRAM  # noqa: E402


class Compare(unittest.TestCase):
    """The script, from its options to its files."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.write("build/tools/chorale-bench", PROGRAM)
        self.write("build/tools/libbench-loop.a", "")
        self.write("bin/mpirun.openmpi", LAUNCHER)
        self.write("fake/bin/mpirun", LAUNCHER)
        self.write("fake/bin/mpicc", COMPILER)
        for name in ("sh", "env", "cp", "sleep", "setsid"):
            (self.folder / "bin" / name).symlink_to(shutil.which(name))
        (self.folder / "bin" / "python3").symlink_to(pathlib.Path(sys.executable).resolve())
        self.variables = {"PATH": str(self.folder / "bin"), "VERSION": "mpirun (Open MPI) 5.0.1",
                          "PROGRAM": str(self.folder / "build/tools/chorale-bench"), "COMMANDS": str(self.folder / "commands"),
                          "ORPHANS": str(self.folder / "orphans"), "LOG": str(self.folder / "log")}

    def write(self, name, text):
        """A program."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def lines(self, name):
        """Of a file that a fake has written."""
        return (self.folder / name).read_text(encoding="utf-8").splitlines()

    def command(self, *words):
        """The script's. The MPI of this machine takes no part."""
        others = [] if "--choice" in words else ["--without", "mpich", "--without", "openmpi"]
        return [sys.executable, TOOLS / "compare", "--build", self.folder / "build", "--rounds", "2", "--sizes", "4,64", *others, *words]

    def compare(self, *words, **variables):
        """The script, done."""
        return subprocess.run(self.command(*words), env={**self.variables, **variables}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=400, check=False)

    def fake(self, name, options=""):
        """A library."""
        return f"--mpi={name}={self.folder / 'fake'}:WHO={name} {options}"

    def row(self, done, begin):
        """The cells of a row of the table."""
        found = [line for line in done.stdout.splitlines() if line.startswith(f"| {begin} |")]
        self.assertEqual(len(found), 1, done.stdout + done.stderr)
        return [cell.strip() for cell in found[0].strip("|").split("|")]

    def refused(self, behaviour, why, *words, where="allreduce", rows="allreduce 4 B, allreduce 64 B", others="20.000"):
        """A library that does this in one operation is left out of its rows, and said to be, and keeps its others."""
        done = self.compare(self.fake("bad", f"BEHAVIOUR={behaviour} WHERE={where} TAKES=20"), self.fake("good", "TAKES=40"),
                            "barrier", "allreduce", "scan", *words)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        said = [line for line in done.stdout.splitlines() if line.startswith("* bad, left out of ")]
        self.assertIn(why, " ".join(said))
        self.assertEqual(" ".join(said).count("allreduce"), rows.count("allreduce"), said)
        self.assertEqual(self.row(done, "allreduce | 64")[2:6], ["10.000", "left out", "40.000", "0.25"])
        self.assertEqual(self.row(done, "scan | 64")[2:5], ["10.000", others, "40.000"])
        return done

    def test_crash(self):
        self.assertIn("[31mlast words", self.refused("crash", "ended with status 134").stdout)
        self.assertNotIn("\x1b", self.refused("crash", "ended with status 134").stdout)

    def test_hang(self):
        done = self.refused("hang", "took more than 4 s", "--time-limit", "4")
        # Once hung, twice alone at each size, and not tried again.
        self.assertEqual(sum("bad" in line and "allreduce" in line for line in self.lines("log")), 4, self.lines("log"))
        self.assertNotIn("not tried", done.stdout)

    def test_nonsense(self):
        self.refused("nonsense", "wrote a result that is no JSON")
        self.refused("silent", "wrote no result")
        self.refused("missing", "wrote no figure")

    def test_garbage_numbers(self):
        for behaviour, why in (("nan", "wrote nan where a time belongs"), ("negative", "wrote -3 us, less than any call takes"),
                               ("huge", "wrote 1e+300 us, more than the whole run took"), ("text", "wrote 'fast' where a time belongs"),
                               ("zero", "wrote 0 us, less"), ("true", "wrote True"), ("none", "wrote None")):
            with self.subTest(behaviour):
                self.refused(behaviour, why, "--rounds", "1")

    def test_everywhere(self):
        """Who fails always is given up."""
        for behaviour, why in (("crash", "ended with status 134"), ("strange", "wrote a result that lacks ranks, rows"),
                               ("singletons", "ran on 1 ranks, not 2: its launcher and its library do not belong together")):
            with self.subTest(behaviour):
                (self.folder / "log").unlink(missing_ok=True)
                done = self.refused(behaviour, why, where="", others="left out")
                self.assertIn("not tried after 3 failed runs in a row", done.stdout)
                self.assertEqual(sum("bad" in line for line in self.lines("log")), 3)

    def test_nothing_is_left_behind(self):
        shared = pathlib.Path(f"/dev/shm/compare-test-{os.getpid()}")
        self.addCleanup(shared.unlink, missing_ok=True)
        done = self.compare(self.fake("bad", f"orphan stubborn BEHAVIOUR=hang SHARED={shared}"), "barrier", "--sizes", "4",
                            "--time-limit", "4")
        self.assertIn("took more than 4 s", done.stdout)
        self.assertFalse(shared.exists())
        done = self.compare(self.fake("bad", "orphan"), "barrier", "--sizes", "4")
        self.assertEqual(self.row(done, "barrier | 0")[2:4], ["10.000", "10.000"])
        orphans = self.lines("orphans")
        self.assertEqual(len(orphans), 3)
        for pid in orphans:
            self.assertFalse(pathlib.Path("/proc", pid).exists())

    def test_stopped(self):
        """The script ends what it has started when it is ended itself."""
        with subprocess.Popen(self.command(self.fake("bad", "orphan BEHAVIOUR=hang"), "barrier"), env=self.variables,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            deadline = time.monotonic() + 100
            while not (self.folder / "orphans").exists() and time.monotonic() < deadline:
                time.sleep(0.05)
            time.sleep(0.3)
            process.terminate()
            process.wait(100)
        for pid in self.lines("orphans"):
            self.assertFalse(pathlib.Path("/proc", pid).exists())

    def test_cannot_be_built(self):
        done = self.compare(self.fake("bad"), "barrier", BROKEN="1")
        self.assertIn("bad: its program could not be built", done.stdout)
        self.assertIn("error: no such thing", done.stdout)
        self.assertIn("no row has the best peer to compare with", done.stdout)
        self.write("fake/bin/mpicc", "#!/bin/sh\n")
        self.assertIn("wrote no program", self.compare(self.fake("bad"), "barrier").stdout)

    def test_chorale_crashes(self):
        done = self.compare(self.fake("good", "BEHAVIOUR="), "allreduce", "scan", BEHAVIOUR="crash", WHERE="scan")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.row(done, "scan | 4")[2:5], ["left out", "10.000", ""])
        self.assertEqual(self.row(done, "allreduce | 4")[2:5], ["10.000", "10.000", "1.00"])

    def test_turns_and_files(self):
        """All take turns; the files have all of it."""
        self.write("page.md", "before\n<!-- made by tools/compare: here -->\nold\n<!-- end of here -->\nafter\n")
        done = self.compare(self.fake("a", "TAKES=8"), self.fake("b-c", "TAKES=40"), "allreduce", "-n", "1,2",
                            "--csv", self.folder / "o.csv", "--json", self.folder / "o.json", "--page", f"{self.folder}/page.md:here")
        self.assertEqual(done.returncode, 0, done.stderr)
        runs = [" ".join(line.split()[:3]) for line in self.lines("log")]
        self.assertEqual(runs[:6], ["chorale 1 4", "a 1 4", "b-c 1 4", "chorale 1 64", "a 1 64", "b-c 1 64"])
        self.assertEqual(runs[12:15], ["a 1 4", "b-c 1 4", "chorale 1 4"])
        for ranks in (1, 2):
            self.assertIn(f"{ranks} ranks: 0 of 2 rows not slower than the best peer; median ratio 1.25.", done.stdout)
            self.assertIn(f"{ranks} ranks: 2 of 2 rows above 1.05: allreduce 4 B 1.25 (a); allreduce 64 B 1.25 (a).", done.stdout)
        page = (self.folder / "page.md").read_text(encoding="utf-8")
        self.assertEqual(page, "before\n<!-- made by tools/compare: here -->\n" + done.stdout + "<!-- end of here -->\nafter\n")
        for word in ("processor:", "cores:", "caches:", "kernel:", "hypervisor:", "a: Fake 1.2; launcher's options: WHO=a TAKES=8"):
            self.assertIn(word, done.stdout)
        rows = list(csv.DictReader(line for line in self.lines("o.csv") if not line.startswith("#")))
        self.assertEqual(len(rows), 12)
        self.assertEqual([row["median_us"] for row in rows[:3]], ["10", "8", "40"])
        document = json.loads((self.folder / "o.json").read_text(encoding="utf-8"))
        self.assertEqual(document["rows"][1]["values"], [8, 8])
        self.assertEqual(document["machine"]["a"], "Fake 1.2; launcher's options: WHO=a TAKES=8")

    def test_plot(self):
        """chorale-bench draws a result for each number of ranks, without what is left out."""
        self.write("bin/gnuplot", "#!/bin/sh\n")
        done = self.compare(self.fake("a", "TAKES=8"), self.fake("b", "BEHAVIOUR=crash WHERE=scan"), "allreduce", "scan", "-n", "1,2",
                            "--plot", self.folder / "o.svg")
        self.assertEqual(done.returncode, 0, done.stderr)
        drawn = json.loads((self.folder / "o.svg").read_text(encoding="utf-8"))
        self.assertEqual([one["ranks"] for one in drawn], [1, 2])
        for one in drawn:
            self.assertEqual(sorted((row["operation"], row["bytes"], row["algorithm"], row["median"], row["p10"], row["p90"]) for row in one["rows"]),
                             sorted([("allreduce", size, *who) for size in (4, 64) for who in (("chorale", 10, 10, 10), ("a", 8, 8, 8), ("b", 10, 10, 10))]
                                    + [("scan", size, *who) for size in (4, 64) for who in (("chorale", 10, 10, 10), ("a", 8, 8, 8))]))
            self.assertEqual(one["about"]["bars"], "least to most of 2 rounds")
        done = self.compare(self.fake("a"), "allreduce", "--plot", self.folder / "o.svg", BEHAVIOUR="blind")
        self.assertEqual(done.returncode, 1)
        self.assertIn("tools/compare: --plot: chorale-bench: cannot draw: no ink", done.stderr)

    def test_report(self):
        """Beside a plot or alone, of the same results."""
        self.write("bin/gnuplot", "#!/bin/sh\n")
        done = self.compare(self.fake("a"), "allreduce", "--plot", self.folder / "o.svg", "--report", self.folder / "o.html")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.folder / "o.html").read_text(encoding="utf-8"), (self.folder / "o.svg").read_text(encoding="utf-8"))
        self.assertEqual(self.compare(self.fake("a"), "allreduce", "--report", self.folder / "alone.html").returncode, 0)
        (one,) = json.loads((self.folder / "alone.html").read_text(encoding="utf-8"))
        self.assertIn("processor", one["machine"])
        done = self.compare(self.fake("a"), "allreduce", "--report", self.folder / "o.html", BEHAVIOUR="blind")
        self.assertEqual(done.returncode, 1)
        self.assertIn("tools/compare: --report: chorale-bench: cannot draw: no ink", done.stderr)

    def test_pictures_without_gnuplot(self):
        """It is said before anything is measured."""
        for option in ("--plot", "--report"):
            done = self.compare("allreduce", option, self.folder / "o")
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"{option}: gnuplot is not installed (on Debian and Ubuntu: apt-get install gnuplot-nox)", done.stderr)
            self.assertFalse((self.folder / "log").exists())

    def test_bound(self):
        done = self.compare(self.fake("a", "TAKES=8"), "allreduce", "--bound", "1.3")
        self.assertIn("2 ranks: 0 of 2 rows above 1.3.\n", done.stdout)

    def test_choice(self):
        done = self.compare("--choice", "allreduce")
        self.assertEqual(self.row(done, "allreduce | 4")[2:], ["10.000", "9.000", "`tree`", "1.11"])
        self.assertEqual(self.row(done, "allreduce | 64")[2:], ["10.000", "8.000", "`ring`", "1.25"])
        self.assertIn("2 of 2 rows above 1.1: allreduce 64 B 1.25 (ring); allreduce 4 B 1.11 (tree).", done.stdout)
        self.assertIn("1 of 2 rows above 1.2: allreduce 64 B 1.25 (ring).", self.compare("--choice", "allreduce", "--bound", "1.2").stdout)
        for behaviour in ("crash", "late"):
            (self.folder / "log").unlink()
            done = self.compare("--choice", "allreduce", BEHAVIOUR=behaviour)
            self.assertEqual((done.returncode, self.row(done, "allreduce | 4")[2]), (1, "left out"))
            self.assertIn("no row has the best other algorithm", done.stdout)

    def test_launchers(self):
        """Each family has its own words; what the user says of binding or mapping is not said twice."""
        cores = len(os.sched_getaffinity(0))
        for version, ranks, options, words in (
                ("mpirun (Open MPI) 4.1.4", 1, "", "-n 1 --bind-to core WHO=a"),
                ("mpirun (Open MPI) 4.1.4", 1, "--bind-to none", "-n 1 WHO=a --bind-to none"),
                ("mpirun (Open MPI) 4.1.4", cores + 1, "", f"-n {cores + 1} --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 WHO=a"),
                ("mpirun (Open MPI) 5.0.1", cores + 1, "",
                 f"-n {cores + 1} --map-by :OVERSUBSCRIBE --bind-to none --mca mpi_yield_when_idle 1 WHO=a"),
                ("HYDRA build details: Version: 4.0.2", 1, "", "-n 1 -bind-to core WHO=a"),
                ("HYDRA build details: Version: 4.0.2", cores + 1, "", f"-n {cores + 1} WHO=a"),
                ("Intel(R) MPI Library, HYDRA", 1, "", "-n 1 WHO=a")):
            self.write("fake/bin/mpirun", LAUNCHER.replace("$VERSION", version))
            (self.folder / "commands").unlink(missing_ok=True)
            done = self.compare(self.fake("a", options), "scan", "-n", str(ranks), "--rounds", "1")
            commands = [line for line in self.lines("commands") if "WHO=a" in line]
            self.assertEqual(len(commands), 2, done.stdout + done.stderr)
            self.assertTrue(commands[0].startswith(f"{words} "), commands[0])

    def test_who_launches_chorale(self):
        """Debian's Open MPI, else the first Open MPI among the others, without the options of its own runs."""
        self.write("other/bin/mpirun", LAUNCHER.replace("$VERSION", "HYDRA"))
        self.write("other/bin/mpicc", COMPILER)
        words = (f"--mpi=b={self.folder / 'other'}:WHO=b", self.fake("a"), "scan", "--rounds", "1", "--sizes", "4")
        self.assertEqual(self.compare(*words).returncode, 0)
        (self.folder / "bin/mpirun.openmpi").unlink()
        done = self.compare(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([line.split()[0] for line in self.lines("log")], ["chorale", "b", "a"] * 2)
        self.assertTrue(self.lines("commands")[3].startswith(f"-n 2 --bind-to core {self.folder}/build/tools/chorale-bench"))
        done = self.compare(words[0])
        self.assertEqual(done.returncode, 1)
        self.assertIn("Chorale needs a launcher with PMIx", done.stderr)

    def test_mistakes(self):
        for words, why in ((["--mpi", "a"], "NAME=PREFIX"), (["--mpi", "a=/nowhere"], "needs mpicc"), (["--mpi", "a b=/usr"], "NAME"),
                           ([self.fake("mpich")], "the name mpich is taken"), ([self.fake("a"), self.fake("a")], "the name a is taken"),
                           (["-n", "two"], "--ranks takes whole numbers"), (["--choice", self.fake("a")], "leave --mpi"),
                           (["--page", "x"], "FILE:NAME"), (["--page", "/nowhere:x"], "/nowhere"), (["sum"], "no such collective")):
            done = self.compare(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(why, done.stderr)
        (self.folder / "build/tools/chorale-bench").unlink()
        done = self.compare(self.fake("a"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("chorale-bench is not built", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
