#!/usr/bin/env python3
"""Looks at traces of a program that says itself what it has called. Usage: trace_test.py TRACED CHORALE_TRACE|none"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import launch  # noqa: E402

TRACED, TOOL = sys.argv[1:3]
LAUNCHER = launch.mpirun()
LIMIT = 300


def run(mode, ranks, where, **variables):
    """(exit status, output, {rank: calls that it has made}) of the program under the launcher, or with ranks that are threads."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CHORALE_")}
    environment.update(CHORALE_DEVICE="soft0", CHORALE_TRACE=str(where), **variables)
    command = [TRACED, mode] if "-" in mode else [*LAUNCHER, "-n", str(ranks), TRACED, mode]
    status, output = launch.run(command, LIMIT, environment)
    made = collections.defaultdict(list)
    for rank, name, size in re.findall(r"^call (\d+) (\w+) (\d+)$", output, re.MULTILINE):
        made[int(rank)].append((name, int(size)))
    return status, output, dict(made)


class Trace:
    """The events of a trace, checked for what all have in common."""

    def __init__(self, path, test):
        text = path.read_text(encoding="utf-8")
        self.events = json.loads(text)
        self.test = test
        self.job = [e["args"]["job"] for e in self.events if e["name"] == "chorale_job"]
        test.assertEqual(len(self.job), 1)
        for event in self.events:
            test.assertIn(event["ph"], "MXi")
            if event["ph"] != "M":
                test.assertGreaterEqual(event["ts"], 0)
            if event["ph"] == "X":
                test.assertGreaterEqual(event["dur"], 0)

    def calls(self):
        """{rank: [(name, bytes), ...]} of all communicators, by begin; a nonblocking call as `iname`."""
        found = collections.defaultdict(list)
        for event in self.events:
            if event.get("cat") == "call" or (event.get("cat") == "nonblocking" and event["name"] != "runs"):
                found[event["pid"]].append((event["ts"], event["name"], event["args"]["bytes"], event))
        return {rank: [(name, size) for _, name, size, _ in sorted(all_of, key=lambda c: c[0])] for rank, all_of in found.items()}

    def check_nesting(self):
        """Complete events of a row are apart, or one within the other; what runs of a nonblocking call is within that, up to its end."""
        rows = collections.defaultdict(list)
        for event in self.events:
            if event["ph"] == "X":
                begin = round(event["ts"] * 1000)
                rows[event["pid"], event["tid"]].append((begin, begin + round(event["dur"] * 1000), event))
        for row in rows.values():
            open_events = []
            for begin, end, event in sorted(row, key=lambda e: (e[0], -e[1])):
                while open_events and open_events[-1] <= begin:
                    open_events.pop()
                if open_events:
                    self.test.assertLessEqual(end, open_events[-1], event)
                open_events.append(end)
        spans = collections.defaultdict(dict)
        for event in self.events:
            if event.get("cat") == "nonblocking":
                span = spans[event["pid"], event["tid"], event["args"]["call"]]
                self.test.assertNotIn(event["name"] == "runs", span)
                span[event["name"] == "runs"] = (round(event["ts"] * 1000), round((event["ts"] + event["dur"]) * 1000))
        for name, span in spans.items():
            self.test.assertIn(False, span, name)
            if True in span:
                self.test.assertGreaterEqual(span[True][0], span[False][0], name)
                self.test.assertAlmostEqual(span[True][1], span[False][1], delta=1, msg=str(name))

    def check_barriers(self):
        """No rank leaves a barrier before all have entered it."""
        rows = {(e["pid"], e["tid"]): e["args"]["name"] for e in self.events if e["name"] == "thread_name"}
        of_world = {row for row, name in rows.items() if "world" in name}
        barriers = collections.defaultdict(list)
        for event in self.events:
            if event["name"] == "barrier" and (event["pid"], event["tid"]) in of_world:
                barriers[event["args"]["call"]].append((event["ts"], event["ts"] + event["dur"]))
        self.test.assertTrue(barriers)
        for all_of in barriers.values():
            # Microseconds: each rank reads the counter of its processor by a scale of its own.
            self.test.assertLessEqual(max(begin for begin, _ in all_of), min(end for _, end in all_of) + 0.1)


class Traces(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.file = pathlib.Path(self.folder.name) / "run.json"

    def left(self):
        return sorted(path.name for path in self.file.parent.iterdir())

    def check_calls(self, mode, ranks):
        status, output, made = run(mode, ranks, self.file)
        self.assertEqual(status, 0, output)
        self.assertEqual(self.left(), ["run.json"], output)
        trace = Trace(self.file, self)
        self.assertEqual(trace.calls(), made)
        self.assertEqual(len(made), ranks)
        trace.check_nesting()
        trace.check_barriers()
        for event in trace.events:
            if event.get("cat") == "call" and event["name"] != "split":
                self.assertTrue(event["args"]["algorithm"])
        names = {e["pid"]: e["args"]["name"] for e in trace.events if e["name"] == "process_name"}
        self.assertEqual(sorted(names), list(range(ranks)))
        self.assertTrue(all(name.startswith(f"rank {rank} (") for rank, name in names.items()), names)
        worlds = [e["args"]["name"] for e in trace.events if e["name"] == "thread_name" and 'the "world", rank' in e["args"]["name"]]
        self.assertEqual(len(worlds), ranks)

    def test_ranks_that_are_threads(self):
        for ranks in (1, 2, 3, 5):
            self.file.unlink(missing_ok=True)
            self.check_calls(f"{ranks}-calls", ranks)

    @unittest.skipUnless(LAUNCHER, "there is no mpirun")
    def test_calls(self):
        for ranks in (1, 3, 7):
            # In place of the trace of the job before.
            self.check_calls("calls", ranks)

    @unittest.skipUnless(LAUNCHER, "there is no mpirun")
    def test_failing_call(self):
        status, output, made = run("failing", 3, self.file)
        self.assertEqual(status, 0, output)
        trace = Trace(self.file, self)
        self.assertEqual(trace.calls(), made)
        failed = [(e["pid"], e["args"]["call"]) for e in trace.events if e.get("args", {}).get("failed")]
        self.assertEqual(sorted(failed), [(0, 3), (1, 3), (2, 3)])

    @unittest.skipUnless(LAUNCHER and TOOL != "none", "there is no mpirun, or no tools")
    def test_killed_rank(self):
        status, output, made = run("killed", 3, self.file)
        self.assertNotEqual(status, 0)
        parts = [name for name in self.left() if name.endswith(".parts")]
        self.assertEqual(len(parts), 1, output)
        kept = subprocess.run([TOOL, "--keep", self.file], capture_output=True, text=True, check=False, timeout=LIMIT)
        self.assertEqual(kept.returncode, 0, kept.stderr)
        done = subprocess.run([TOOL, self.file], capture_output=True, text=True, check=False, timeout=LIMIT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("not closed", done.stdout)
        self.assertEqual(self.left(), ["run.json"])
        found = collections.defaultdict(list)
        for event in Trace(self.file, self).events:
            if event.get("cat") == "call":
                found[event["pid"]].append(event["args"]["call"])
        # The launcher may have ended others before they had missed the killed one. Merged twice, since --keep was the first time.
        for rank in range(3):
            self.assertEqual(sorted(set(found[rank]))[:3], [1, 2, 3], output)
        self.assertEqual(max(found[2]), 3)
        again = subprocess.run([TOOL, self.file], capture_output=True, text=True, check=False, timeout=LIMIT)
        self.assertEqual(again.returncode, 1)
        self.assertIn("there are no parts", again.stderr)

    @unittest.skipUnless(LAUNCHER, "there is no mpirun")
    def test_child_of_fork(self):
        status, output, made = run("forked", 2, self.file)
        self.assertEqual(status, 0, output)
        self.assertEqual(Trace(self.file, self).calls(), made)

    def test_more_records_than_there_is_room_for(self):
        status, output, made = run("2-many", 2, self.file, CHORALE_TRACE_RECORDS="50")
        self.assertEqual(status, 0, output)
        self.assertIn("CHORALE_TRACE_RECORDS", output)
        trace = Trace(self.file, self)
        for rank, calls in trace.calls().items():
            self.assertLess(len(calls), 51)
            self.assertGreater(len(calls), 0)
            self.assertEqual(calls, made[rank][:len(calls)])
        self.assertEqual(sum("later records were dropped" in e["name"] for e in trace.events), 2)

    def test_two_jobs_with_one_file(self):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CHORALE_")}
        environment.update(CHORALE_DEVICE="soft0", CHORALE_TRACE=str(self.file))
        jobs = [subprocess.Popen([TRACED, "2-many"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                for _ in range(2)]
        said = "".join(job.communicate(timeout=LIMIT)[1] for job in jobs)
        self.assertEqual([job.returncode for job in jobs], [0, 0], said)
        for name in self.left():
            calls = Trace(self.file.parent / name, self).calls()
            self.assertEqual({rank: len(of_rank) for rank, of_rank in calls.items()}, {0: 300, 1: 300}, name)

    def test_file_that_cannot_be_written(self):
        status, output, _ = run("2-calls", 2, self.file / "no" / "such.json")
        self.assertEqual(status, 1)
        self.assertIn("CHORALE_TRACE", output)
        self.assertIn("such.json", output)

    def test_log(self):
        for level, wanted, unwanted in (("info", ["made over ud, device soft0", "ended after", "has failed: "], ["begins"]),
                                        ("debug", ["allreduce of 4 bytes (call 2) begins", "allreduce of 4 bytes (call 2) is over after",
                                                   "has failed: "], [])):
            status, output, _ = run("2-failing", 2, self.file, CHORALE_LOG=level)
            self.assertEqual(status, 0, output)
            lines = [line for line in output.splitlines() if line.startswith("chorale ")]
            for line in lines:
                self.assertRegex(line, r"^chorale \d+\.\d{6} rank [01] of 2, communicator \d+: ")
            for text in wanted:
                self.assertTrue(any(text in line for line in lines), f"{text}\n{output}")
            for text in unwanted:
                self.assertFalse(any(text in line for line in lines), output)

    def test_settings_that_cannot_be_used(self):
        for name, value in (("CHORALE_LOG", "loud"), ("CHORALE_TRACE_RECORDS", "0"), ("CHORALE_TRACE_RECORDS", "many")):
            status, output, _ = run("1-calls", 1, self.file, **{name: value})
            self.assertEqual(status, 1)
            self.assertIn(f"{name}='{value}'", output)

    def test_statistics_at_the_end(self):
        status, output, made = run("3-calls", 3, self.file, CHORALE_STATISTICS="1")
        self.assertEqual(status, 0, output)
        of_world = [table for table in output.split("chorale: calls of rank ")[1:] if "communicator 'the \"world\"'" in table.splitlines()[0]]
        self.assertEqual(len(of_world), 1, output)
        total = next(line.split() for line in of_world[0].splitlines() if line.startswith("all "))
        # The world's own calls, and the two that make the other communicators.
        self.assertEqual(int(total[1]), 9, of_world[0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
