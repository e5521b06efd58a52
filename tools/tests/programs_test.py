#!/usr/bin/env python3
"""Runs chorale-info and chorale-bench and looks at what they say. Usage: programs_test.py INFO BENCH MPIRUN|none"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

INFO, BENCH, MPIRUN = sys.argv[1:4]
QUICK = ["--iterations", "10", "--samples", "2", "--warmup", "5"]


def run(*command, **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CHORALE_")}
    environment.update(CHORALE_DEVICE="soft0", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    environment.update(variables)
    return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=100, check=False)


class Info(unittest.TestCase):
    def test_text(self):
        done = run(INFO)
        self.assertEqual(done.returncode, 0, done.stderr)
        for word in ("soft0", "ACTIVE", "GID   0", "max_qp", "CHORALE_DEADLINE_MS", "60000", "singleton"):
            self.assertIn(word, done.stdout)

    def test_json(self):
        done = run(INFO, "--json", CHORALE_BLOCKS="16")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout)
        self.assertEqual(told["choice"]["device"], "soft0")
        self.assertIn("soft0", [device["name"] for device in told["devices"]])
        settings = {setting["name"]: setting for setting in told["settings"]}
        self.assertEqual((settings["CHORALE_BLOCKS"]["value"], settings["CHORALE_BLOCKS"]["source"]),
                         ("16", "environment"))
        self.assertEqual(settings["CHORALE_MTU"]["source"], "default")
        self.assertEqual(told["unknown_variables"], [])

    def test_nothing_to_use(self):
        for arguments in ([], ["--json"]):
            done = run(INFO, *arguments, CHORALE_DEVICE="mlx5_99")
            self.assertEqual(done.returncode, 1)
            self.assertIn("mlx5_99", done.stdout)

    def test_unusable_setting(self):
        done = run(INFO, CHORALE_MTU="77")
        self.assertEqual(done.returncode, 1)
        self.assertIn("CHORALE_MTU='77'", done.stdout)

    def test_misspelt_variable(self):
        done = run(INFO, CHORALE_DEVCIE="soft0")
        self.assertEqual(done.returncode, 0)
        self.assertIn("CHORALE_DEVCIE is set, but nothing reads it; did you mean CHORALE_DEVICE?", done.stdout)

    def test_launcher_without_pmix(self):
        done = run(INFO, "--json", PMI_SIZE="4", PMI_RANK="0")
        launch = json.loads(done.stdout)["launch"]
        self.assertFalse(launch["pmix"])
        self.assertEqual(launch["ranks"], 4)

    def test_mistakes(self):
        self.assertEqual(run(INFO, "--jsn").returncode, 2)
        self.assertEqual(run(INFO, "--help").returncode, 0)


class Bench(unittest.TestCase):
    def measure(self, ranks, *arguments):
        """The JSON of a run that must succeed."""
        launcher = [] if ranks == 1 else [MPIRUN, "--oversubscribe", "-n", str(ranks)]
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "result.json"
            done = run(*launcher, BENCH, *QUICK, *arguments, "--json", str(file))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertNotIn("WRONG", done.stdout)
            return json.loads(file.read_text(encoding="utf-8")), done.stdout

    def several(self):
        if MPIRUN == "none":
            self.skipTest("mpirun.openmpi is not there, or this build has no PMIx")
        return 3

    def listed(self):
        lines = run(BENCH, "--list").stdout.splitlines()[1:]
        return {tuple(re.split(r"\s{2,}", line)[:3]) for line in lines}

    def test_alone(self):
        told, text = self.measure(1, "--check", "--max-bytes", "16", "--floor")
        self.assertEqual(told["ranks"], 1)
        self.assertIn("floor: not measured", text)
        self.assertEqual([(row["operation"], row["bytes"]) for row in told["rows"]],
                         [("barrier", 0)] + [(o, b) for o in ("broadcast", "reduce", "allreduce", "allgather", "alltoall",
                                                              "gather", "scatter", "reduce_scatter", "scan",
                                                              "exchange")
                                             for b in (4, 8, 16)])

    def test_every_algorithm_on_every_transport(self):
        ranks = self.several()
        told, _ = self.measure(ranks, "--check", "--algorithms", "--transport", "rc,rc_send_receive,ud,ud_rdma,hybrid",
                               "--min-bytes", "20000",
                               "--max-bytes", "20000")
        self.assertEqual({(row["operation"], row["transport"], row["algorithm"]) for row in told["rows"]}, self.listed())
        for row in told["rows"]:
            self.assertEqual(row["wrong_ranks"], 0, row)
            self.assertGreater(row["median"], 0, row)
            self.assertLessEqual(row["p10"], row["median"], row)
            self.assertLessEqual(row["median"], row["p90"], row)
            self.assertLessEqual(row["min"], row["max"], row)

    def test_tuning(self):
        ranks = self.several()
        with tempfile.TemporaryDirectory() as folder:
            table = pathlib.Path(folder) / "table.json"
            tune = [MPIRUN, "--oversubscribe", "-n", str(ranks), BENCH, *QUICK, "allgather", "--table", str(table)]
            for sizes in ("8,1000", "8"):
                done = run(*tune, "--sizes", sizes)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                rows = json.loads(table.read_text(encoding="utf-8"))["tuning"]
                self.assertEqual([row["bytes"] for row in rows], [int(size) for size in sizes.split(",")])
                for row in rows:
                    self.assertEqual((row["operation"], row["transport"], row["ranks"]), ("allgather", "rc", ranks))
                    self.assertEqual(set(row["microseconds"]), {"ring", "recursive_doubling", "bruck", "direct"})
            best = min(rows[0]["microseconds"], key=rows[0]["microseconds"].get)
            done = run(*tune[:4], BENCH, *QUICK, "allgather", "--sizes", "8", CHORALE_TUNING=str(table),
                       CHORALE_EXPLAIN="1")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn(f"ranks over rc: {best}: ", done.stderr)
            self.assertIn(str(table), done.stderr)

    def test_tuning_follows_no_link(self):
        with tempfile.TemporaryDirectory() as folder:
            table = pathlib.Path(folder) / "table.json"
            valuable = pathlib.Path(folder) / "valuable"
            valuable.write_text("mine", encoding="utf-8")
            planted = pathlib.Path(folder) / "table.json.new"
            planted.symlink_to(valuable)
            tune = [MPIRUN, "--oversubscribe", "-n", str(self.several()), BENCH, *QUICK, "barrier", "--table", str(table)]
            done = run(*tune)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(valuable.read_text(encoding="utf-8"), "mine")
            self.assertEqual(sorted(os.listdir(folder)), ["table.json", "table.json.new", "valuable"])
            table.chmod(0o640)
            table.write_text('{"tuning": [{"operation": "barrier"}]}', encoding="utf-8")
            done = run(*tune)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn('row 1 of "tuning" (from 1) has no "transport"', done.stdout + done.stderr)
            table.write_text('{"tuning": []}', encoding="utf-8")
            self.assertEqual(run(*tune).returncode, 0)
            self.assertEqual(table.stat().st_mode & 0o777, 0o640)

    def test_lists_end_where_they_end(self):
        for arguments in (["--transport", "rc,ud", "allreduce", "--sizes", "8"], ["--transport", "rc,ud", "--sizes", "8", "allreduce"]):
            told, _ = self.measure(1, *arguments)
            self.assertEqual([(row["operation"], row["transport"], row["bytes"]) for row in told["rows"]],
                             [("allreduce", "rc", 8), ("allreduce", "ud", 8)])

    def test_options_are_no_launchers(self):
        """Open MPI reads --tune FILE as settings of its own."""
        self.assertEqual(run(BENCH, "--tune", "table.json").returncode, 2)

    def test_fresh_buffers(self):
        told, _ = self.measure(self.several(), "--fresh", "--check", "allgather", "--sizes", "262144")
        self.assertEqual([(row["algorithm"], row["wrong_ranks"]) for row in told["rows"]],
                         [("standard, one buffer", 0), ("standard, 8 in turns", 0), ("standard, 8 fresh", 0)])

    def test_floor(self):
        told, _ = self.measure(self.several(), "--floor", "barrier")
        self.assertGreater(told["rows"][0]["floor"], 0)

    def test_selection(self):
        told, _ = self.measure(1, "--algorithm", "degree_k<7>", "--max-bytes", "4", "allreduce", "--back-to-back")
        self.assertEqual([row["algorithm"] for row in told["rows"]], ["degree_k<7>"])
        self.assertEqual(run(BENCH, "--algorithm", "no such").returncode, 2)

    def test_odd_sizes(self):
        told, _ = self.measure(1, "--check", "--min-bytes", "1", "--max-bytes", "7", "broadcast", "reduce")
        self.assertEqual([(row["operation"], row["bytes"]) for row in told["rows"]],
                         [("broadcast", 1), ("broadcast", 2), ("broadcast", 4), ("reduce", 4)])

    def test_mistakes(self):
        for arguments in (["alltoal"], ["--transport", "tcp"], ["--samples", "0"], ["--max-bytes", "0"]):
            done = run(BENCH, *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertTrue(done.stderr)

    def test_file_that_cannot_be_written(self):
        done = run(BENCH, *QUICK, "barrier", "--json", "/nowhere/result.json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("/nowhere/result.json", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
