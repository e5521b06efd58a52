#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The files that chorale-bench writes contain what was measured. Usage: files_test.py BENCH MPIRUN|none"""
import csv
import json
import os
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import running  # noqa: E402
from running import QUICK  # noqa: E402

BENCH, MPIRUN = os.path.abspath(sys.argv[1]), sys.argv[2]
COLUMNS = {"median_us": "median", "p10_us": "p10", "p90_us": "p90", "p99_us": "p99", "min_us": "min", "max_us": "max", "wall_us": "wall",
           "floor_us": "floor"}


class Files(running.InFolder):
    """A folder, and runs of chorale-bench in it."""

    def bench(self, *words, ranks=1, **variables):
        """Runs chorale-bench."""
        return running.run(*self.launched(MPIRUN, ranks), BENCH, *QUICK, *words, cwd=self.folder, **variables)

    def measured(self, *words, **how):
        """A run of chorale-bench that must succeed."""
        done = self.bench(*words, **how)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def json(self, name):
        """The content of a JSON file."""
        return json.loads((self.folder / name).read_text(encoding="utf-8"))


class Csv(Files):
    """Compares the files of --csv and --json."""

    def same(self, name, document):
        """Checks that all numbers are equal to the last digit."""
        lines = (self.folder / name).read_text(encoding="utf-8").splitlines()
        about = [line for line in lines if line.startswith("#")]
        self.assertEqual(about, [f"# {key}: {value}" for part in ("about", "machine", "run") for key, value in document[part].items()])
        rows = list(csv.DictReader(lines[len(about):]))
        self.assertEqual(len(rows), len(document["rows"]))
        for row, told in zip(rows, document["rows"]):
            self.assertEqual(int(row["ranks"]), document["ranks"])
            for column in ("set_up", "contestant", "operation", "algorithm", "transport"):
                self.assertEqual(row.get(column), told.get(column), row)
            for column in ("bytes", "samples", "calls"):
                self.assertEqual(int(row[column]), told[column], row)
            for column, key in COLUMNS.items():
                self.assertEqual(float(row[column]) if row[column] else None, told.get(key), row)
            self.assertEqual(int(row["wrong_ranks"]) if row["wrong_ranks"] else None, told.get("wrong_ranks"), row)
        return rows

    def test_alone(self):
        """Names with commas are quoted."""
        self.measured("--check", "--fresh", "barrier", "allgather", "--sizes", "8,1000", "--json", "o.json", "--csv", "o.csv")
        rows = self.same("o.csv", self.json("o.json"))
        self.assertEqual([(row["algorithm"], row["bytes"]) for row in rows[-3:]],
                         [(f"standard, {memory}", "1000") for memory in ("one buffer", "8 in turns", "8 fresh")])

    def test_several(self):
        self.measured("--floor", "allreduce", "--sizes", "8,1000", "--json", "o.json", "--csv", "o.csv", ranks=3)
        self.assertEqual([(row["operation"], row["bytes"], row["ranks"]) for row in self.same("o.csv", self.json("o.json"))],
                         [("allreduce", "8", "3"), ("allreduce", "1000", "3")])

    def test_set_ups(self):
        plan = {"set_ups": [{"name": 'a "b"', "operation": "allreduce", "sizes": [8], "contestants": [
            {"name": "x, y", "transport": "rc", "algorithm": "degree_k<3>"}]}]}
        (self.folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
        self.measured("--set-ups", "plan.json", "--json", "o.json", "--csv", "o.csv")
        rows = self.same("o.csv", self.json("o.json"))
        self.assertEqual([(row["set_up"], row["contestant"]) for row in rows], [('a "b"', "x, y")])

    def test_machine(self):
        """The file tells its readers what was measured, and how."""
        self.measured("barrier", "--json", "a b.json", CHORALE_BLOCKS="16")
        told = self.json("a b.json")
        self.assertEqual(told["machine"]["kernel"], f"{os.uname().sysname} {os.uname().release}")
        self.assertIn("rank 0 may use", told["machine"]["cores"])
        self.assertEqual(told["run"]["command"], " ".join([BENCH, *QUICK, "barrier", "--json", "'a b.json'"]))
        self.assertEqual(told["run"]["settings"], "CHORALE_BLOCKS=16 CHORALE_DEVICE=soft0")
        self.assertRegex(told["run"]["date"], r"^20\d\d-\d\d-\d\d \d\d:\d\d UTC$")

    def test_standard_output(self):
        done = self.measured("barrier", "--csv", "/dev/stdout")
        self.assertIn("\nranks,operation,algorithm,", done.stdout)

    def test_files_that_cannot_be_written(self):
        """Reported before any measurement, by a single rank, and without leaving files behind."""
        (self.folder / "old.json").write_text("old", encoding="utf-8")
        for ranks in (1, 3):
            done = self.bench("allreduce", "--json", "old.json", "--csv", "nowhere/o.csv", ranks=ranks)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr.count("cannot write nowhere/o.csv: No such file or directory"), 1, done.stderr)
            self.assertNotIn("# allreduce", done.stdout)
            for table, why in (("nowhere/t.json", "cannot write nowhere/t.json: No such file"), ("old.json", "old.json")):
                done = self.bench("allreduce", "--table", table, ranks=ranks)
                self.assertEqual(done.returncode, 1)
                self.assertIn(why, done.stderr)
                self.assertNotIn("# allreduce", done.stdout)
        self.assertEqual([file.name for file in self.folder.iterdir()], ["old.json"])
        self.assertEqual((self.folder / "old.json").read_text(encoding="utf-8"), "old")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
