#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs chorale-info and chorale-bench, and checks their output. Usage: programs_test.py INFO BENCH MPIRUN|none"""
import json
import os
import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
sys.path[:0] = [*map(str, pathlib.Path(__file__).resolve().parents[:2]), str(pathlib.Path(__file__).resolve().parents[2] / "tests/support")]
import running  # noqa: E402
from papers_figures import catalogue  # noqa: E402
from privileged import in_mount_namespace, why_no_mount_namespace  # noqa: E402
from running import QUICK, run  # noqa: E402

INFO, BENCH, MPIRUN = sys.argv[1:4]


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


def limited(name, value):
    """The command prefix that sets a resource limit."""
    return ["prlimit", f"--{name}={value}"]


class Check(running.InFolder):
    def setUp(self):
        super().setUp()
        self.launched(MPIRUN, 2)

    def check(self, *before, **variables):
        """(whether a job could run here, the last finding by subject)."""
        done = run(*before, INFO, "--check", "--json", **variables)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        told = json.loads(done.stdout)
        self.assertEqual(told["well"], done.returncode == 0)
        self.assertEqual(told["well"], all(one["verdict"] != "wrong" for one in told["checks"]))
        for one in told["checks"]:
            self.assertEqual(one["remedy"] == "", one["verdict"] == "ok", one)
        return told["well"], {one["subject"]: one for one in told["checks"]}

    def in_own_mounts(self, script, **variables):
        if why := why_no_mount_namespace():
            self.skipTest(why)
        return self.check(*in_mount_namespace(script, []), **variables)

    def test_all_is_well(self):
        well, found = self.check()
        self.assertTrue(well, found)
        self.assertEqual(set(found), {"settings", "device", "port", "GID", "MTU", "locked memory", "open files", "size of files",
                                      "/dev/shm", "zero copy", "namespaces", "ranks", "connections", "datagrams", "multicast",
                                      "launcher"})
        for subject in ("settings", "device", "port", "GID", "MTU", "connections", "datagrams", "multicast", "launcher"):
            self.assertEqual(found[subject]["verdict"], "ok", found[subject])
        self.assertRegex(found["launcher"]["says"], r"2 ranks met through PMIx .*, and added up over soft0")
        text = run(INFO, "--check")
        self.assertEqual(text.returncode, 0, text.stdout)
        self.assertEqual(text.stdout.splitlines()[-1], "A job can start here.")

    def test_under_each_profile(self):
        """Jobs can start on every adapter of the library's profiles, or the check names what it lacks."""
        lacks = dict.fromkeys(("hns", "mana", "qedr"), "datagrams (UD)")
        for profile in (pathlib.Path(__file__).resolve().parents[2] / "lib/verbs/profiles").glob("*.profile"):
            with self.subTest(profile.stem):
                well, found = self.check(CHORALE_SOFT_PROFILE=profile.stem)
                self.assertEqual(well, profile.stem not in lacks, found)
                self.assertIn(lacks.get(profile.stem, ""), str([one["says"] for one in found.values() if one["verdict"] == "wrong"]))

    def test_in_a_job(self):
        _, found = self.check(MPIRUN, "-n", "1")
        self.assertIn("started by Open MPI mpirun with a PMIx server", found["launcher"]["says"])

    def test_no_such_device(self):
        well, found = self.check(CHORALE_DEVICE="mlx5_99")
        self.assertFalse(well)
        self.assertIn("mlx5_99", found["device"]["says"])
        self.assertEqual(found["device"]["remedy"], "unset CHORALE_DEVICE, or set it to a device that `chorale-info` lists")
        self.assertEqual(found["loopback"]["verdict"], "wrong")
        self.assertEqual(found["launcher"]["verdict"], "ok")

    def test_settings(self):
        well, found = self.check(CHORALE_MTU="77")
        self.assertFalse(well)
        self.assertIn("CHORALE_MTU='77'", found["settings"]["says"])
        well, found = self.check(CHORALE_DEVCIE="soft0")
        self.assertTrue(well)
        self.assertEqual((found["settings"]["verdict"], found["settings"]["remedy"]), ("note", "unset CHORALE_DEVCIE"))

    def test_few_open_files(self):
        well, found = self.check(*limited("nofile", 20))
        self.assertFalse(well)
        self.assertEqual(found["open files"]["remedy"], "`ulimit -n 4096`, or '* - nofile 4096' in /etc/security/limits.conf")
        self.assertEqual(found["ranks"]["verdict"], "wrong")
        well, found = self.check(*limited("nofile", 128))
        self.assertTrue(well, found)
        self.assertEqual(found["open files"]["verdict"], "note")

    def test_small_files(self):
        well, found = self.check(*limited("fsize", 1 << 20))
        self.assertFalse(well)
        self.assertEqual(found["size of files"]["remedy"], "`ulimit -f unlimited`, or LimitFSIZE=infinity of the service")
        self.assertIn("ulimit -f unlimited", found["device"]["says"])

    def test_no_locked_memory(self):
        # Root's capability lifts the limit.
        without = ["setpriv", "--bounding-set=-ipc_lock"] if os.geteuid() == 0 else []
        well, found = self.check(*without, *limited("memlock", 0))
        self.assertTrue(well)  # soft0 locks no memory
        self.assertEqual((found["locked memory"]["verdict"], found["locked memory"]["says"]),
                         ("note", "0 bytes (RLIMIT_MEMLOCK): enough for soft0, too little for an adapter"))
        self.assertIn("`ulimit -l unlimited` where the ranks are started", found["locked memory"]["remedy"])

    def test_no_launcher(self):
        well, found = self.check(PATH=str(self.folder))
        self.assertFalse(well)
        self.assertEqual(found["launcher"]["says"], "neither mpirun, prterun nor srun is on PATH: only one rank can run")
        self.assertIn("`apt install openmpi-bin`", found["launcher"]["remedy"])
        other = self.folder / "mpirun"
        for script, said in (("echo HYDRA build details", "is neither Open MPI's nor PRRTE's"),
                             ("test $1 = --version && echo 'mpirun (Open MPI) 9.9' || { echo 'no \x1b[31mslots'; exit 3; }",
                              "could not run two ranks: exit status 3: no \\x1b[31mslots"),
                             ("test $1 = --version && echo 'mpirun (Open MPI) 9.9'", "could not run two ranks")):
            other.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
            other.chmod(0o755)
            well, found = self.check(PATH=str(self.folder))
            self.assertFalse(well)
            self.assertIn(said, found["launcher"]["says"])
        other.unlink()
        (self.folder / "srun").write_text("#!/bin/sh\necho 'MPI plugin types are...'\necho pmix_v4\n", encoding="utf-8")
        (self.folder / "srun").chmod(0o755)
        self.assertIn("has pmix_v4", self.check(PATH=str(self.folder))[1]["launcher"]["says"])

    def test_launcher_without_pmix(self):
        well, found = self.check(PMI_SIZE="4", PMI_RANK="0")
        self.assertFalse(well)
        self.assertIn("without a PMIx server", found["launcher"]["says"])

    def test_shared_memory(self):
        for options, said, remedy in (("size=64k", "KiB free", "`mount -o remount,size=8G /dev/shm`"),
                                      ("ro", "cannot be written", "`mount -o remount,rw /dev/shm`")):
            well, found = self.in_own_mounts(f"mount -t tmpfs -o {options} tmpfs /dev/shm")
            self.assertTrue(well, found)
            self.assertEqual(found["/dev/shm"]["verdict"], "note")
            self.assertIn(said, found["/dev/shm"]["says"])
            self.assertIn(remedy, found["/dev/shm"]["remedy"])

    def test_no_proc(self):
        # The loader needs /proc to find libraries relative to the program.
        library = pathlib.Path(INFO).resolve().parent.parent / "lib"
        well, found = self.in_own_mounts("mount -t tmpfs tmpfs /proc", LD_LIBRARY_PATH=str(library))
        self.assertFalse(well)
        self.assertEqual(found["/proc"]["remedy"], "`mount -t proc proc /proc`")


class Bench(running.InFolder):
    def measure(self, ranks, *arguments):
        """(JSON, table) of a run that must succeed."""
        return self.result(*self.launched(MPIRUN, ranks), BENCH, *QUICK, *arguments)

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
        told, _ = self.measure(3, "--check", "--algorithms", "--transport", "rc,rc_send_receive,ud,ud_rdma,hybrid",
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
        chosen_among = {"ring", "recursive_doubling", "bruck", "direct", "last_arriver"}
        table = self.folder / "table.json"
        tune = [*self.launched(MPIRUN, 3), BENCH, *QUICK, "allgather", "--table", str(table)]
        for sizes in ("8,1000", "8"):
            done = run(*tune, "--sizes", sizes)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            rows = json.loads(table.read_text(encoding="utf-8"))["tuning"]
            self.assertEqual([row["bytes"] for row in rows], [int(size) for size in sizes.split(",")])
            for row in rows:
                self.assertEqual((row["operation"], row["transport"], row["ranks"]), ("allgather", "rc", 3))
                self.assertEqual(set(row["microseconds"]), chosen_among | {"two_level<flat, ring, binomial>", "through_blocks<direct>"})
        best = min(chosen_among, key=rows[0]["microseconds"].get)
        done = run(*tune[:4], BENCH, *QUICK, "allgather", "--sizes", "8", CHORALE_TUNING=str(table),
                   CHORALE_EXPLAIN="1")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"ranks over rc: {best}: ", done.stderr)
        self.assertIn(str(table), done.stderr)

    def test_tuning_follows_no_link(self):
        table = self.folder / "table.json"
        valuable = self.folder / "valuable"
        valuable.write_text("mine", encoding="utf-8")
        planted = self.folder / "table.json.new"
        planted.symlink_to(valuable)
        tune = [*self.launched(MPIRUN, 3), BENCH, *QUICK, "barrier", "--table", str(table)]
        done = run(*tune)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(valuable.read_text(encoding="utf-8"), "mine")
        self.assertEqual(sorted(os.listdir(self.folder)), ["table.json", "table.json.new", "valuable"])
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
        """Open MPI's mpirun would read --tune FILE as its own settings."""
        self.assertEqual(run(BENCH, "--tune", "table.json").returncode, 2)

    def test_fresh_buffers(self):
        told, _ = self.measure(3, "--fresh", "--check", "allgather", "--sizes", "262144")
        self.assertEqual([(row["algorithm"], row["wrong_ranks"]) for row in told["rows"]],
                         [("standard, one buffer", 0), ("standard, 8 in turns", 0), ("standard, 8 fresh", 0)])

    def set_ups(self, document, ranks):
        """(exit status, rows, errors) of a run with --set-ups."""
        plan, result = self.folder / "set-ups.json", self.folder / "result.json"
        plan.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
        done = run(*self.launched(MPIRUN, ranks), BENCH, *QUICK, "--check", "--set-ups", str(plan), "--json", str(result))
        rows = json.loads(result.read_text(encoding="utf-8"))["rows"] if result.is_file() else []
        return done.returncode, rows, done.stderr

    def test_set_ups(self):
        tree = {"transport": "rc", "algorithm": "binomial_store_and_forward"}
        document = {"set_ups": [
            {"name": "down", "operation": "broadcast", "timing": "last leaf", "sizes": [1, 5000], "contestants": [
                {"name": "small blocks", **tree, "settings": {"CHORALE_BLOCK_BYTES": "1088"}},
                {"name": "large blocks", **tree, "settings": {"CHORALE_BLOCK_BYTES": "8256"}}]},
            {"name": "all", "operation": "allreduce", "sizes": [4096], "contestants": [
                {"name": "degree 15", "transport": "rc", "algorithm": "degree_k<15>", "memory": "fresh"}]},
            {"name": "none", "operation": "barrier", "contestants": [
                {"name": "RGM", "transport": "ud", "algorithm": "gather_multicast<7>"}]}]}
        for ranks in (1, 3):
            status, rows, errors = self.set_ups(document, ranks)
            self.assertEqual(status, 0, errors)
            self.assertEqual([(row["set_up"], row["contestant"], row["algorithm"], row["bytes"], row["wrong_ranks"])
                              for row in rows],
                             [("down", f"{which} blocks", tree["algorithm"], size, 0) for size in (1, 5000)
                              for which in ("small", "large")]
                             + [("all", "degree 15", "degree_k<15>, 8 fresh", 4096, 0),
                                ("none", "RGM", "gather_multicast<7>", 0, 0)])
            for row in rows:
                self.assertGreater(row["median"], 0, row)

    def test_set_ups_that_are_none(self):
        rc = {"name": "x", "transport": "rc", "algorithm": "ring"}
        one = {"name": "first", "operation": "allgather", "sizes": [8], "contestants": [rc]}
        for document, said in (
                ("{", "parse error"), ({}, "set_ups"), ({"set_ups": [], "more": 1}, '"more" is not known here'),
                ({"set_ups": [{**one, "operation": "gossip"}]}, 'set-up 1 (first): "operation" is "gossip"'),
                ({"set_ups": [one, {**one, "sizes": []}]}, 'set-up 2 (first): "sizes" must have at least one'),
                ({"set_ups": [{**one, "timing": "last leaf"}]}, "which only a broadcast has"),
                ({"set_ups": [{**one, "timing": "soon"}]}, 'must be one of "each call" "back to back" "last leaf"'),
                ({"set_ups": [{**one, "sizes": [8, -8]}]}, '"sizes" has -8, and takes whole numbers from 4 to'),
                ({"set_ups": [{**one, "contestants": [rc, rc]}]}, 'two contestants are named "x"'),
                ({"set_ups": [{**one, "contestants": [{**rc, "settings": {"CHORALE_BLOCKS": "1"}}]}]}, "CHORALE_BLOCKS is '1'; it takes 2 to"),
                ({"set_ups": [{**one, "contestants": [{**rc, "settings": {"CHORALE_BLOKS": "4"}}]}]}, '"CHORALE_BLOKS" is no setting'),
                ({"set_ups": [{**one, "contestants": [{**rc, "algorithm": "rin"}]}]}, "there is no allgather rin over rc")):
            status, _, errors = self.set_ups(document, 1)
            self.assertEqual(status, 1, document)
            self.assertIn(said, errors)
        self.assertEqual(run(BENCH, "--set-ups", "x.json", "--table", "y.json").returncode, 2)

    def test_contestants_of_the_papers_figures_exist(self):
        listed = self.listed()
        for one in catalogue.all_figures():
            for set_up in one.set_ups:
                for contestant in getattr(set_up, "contestants", ()):
                    self.assertIn((set_up.operation, contestant.transport, contestant.algorithm), listed, one.name)

    def test_floor(self):
        told, _ = self.measure(3, "--floor", "barrier")
        self.assertGreater(told["rows"][0]["floor"], 0)

    def test_selection(self):
        told, _ = self.measure(1, "--algorithm", "degree_k<7>", "--max-bytes", "4", "allreduce", "--back-to-back")
        self.assertEqual([row["algorithm"] for row in told["rows"]], ["degree_k<7>"])
        self.assertEqual(run(BENCH, "--algorithm", "no such").returncode, 2)

    def test_no_sizes(self):
        for words in (["allreduce", "--sizes", "1,3"], ["--min-bytes", "9", "--max-bytes", "8"], ["barrier", "scan", "--min-bytes", "16", "--max-bytes", "8"]):
            done = run(BENCH, *QUICK, *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn("no size is selected", done.stderr)

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
