#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the traces of a program that prints the calls it makes, and the merging of made-up traces by chorale-trace. Usage: trace_test.py TRACED"""
import collections
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import launch  # noqa: E402

TRACED = sys.argv[1]
TOOL = pathlib.Path(__file__).resolve().parent.parent.parent / "tools/trace/chorale-trace.py"
LAUNCHER = launch.mpirun()
LIMIT = 300
SEED = int(os.environ.get("CHORALE_TEST_SEED", random.randrange(2**32)))


def merging():
    """The program that merges traces, as a module."""
    loader = importlib.machinery.SourceFileLoader("chorale_trace", str(TOOL))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("chorale_trace", loader))
    loader.exec_module(module)
    return module


def merge(*words):
    """(exit status, output) of chorale-trace."""
    done = subprocess.run([sys.executable, TOOL, *words], capture_output=True, text=True, check=False, timeout=LIMIT)
    return done.returncode, done.stdout + done.stderr


def run(mode, ranks, where, **variables):
    """(exit status, output, {rank: its calls}) of the program, under the launcher or with threads as ranks."""
    environment = launch.on_soft0(**{"CHORALE_TRACE": str(where), "CHORALE_SAMPLING": "0", **variables})
    command = [TRACED, mode] if "-" in mode else [*LAUNCHER, "-n", str(ranks), TRACED, mode]
    status, output = launch.run(command, LIMIT, environment)
    made = collections.defaultdict(list)
    for rank, name, size in re.findall(r"^call (\d+) (\w+) (\d+)$", output, re.MULTILINE):
        made[int(rank)].append((name, int(size)))
    return status, output, dict(made)


class Trace:
    """The events of a trace, after the checks that apply to every trace."""

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
        """{rank: [(name, bytes), ...]} of all communicators, in order of begin; a nonblocking call is named `iname`."""
        found = collections.defaultdict(list)
        for event in self.events:
            if event.get("cat") == "call" or (event.get("cat") == "nonblocking" and event["name"] != "runs"):
                found[event["pid"]].append((event["ts"], event["name"], event["args"]["bytes"], event))
        return {rank: [(name, size) for _, name, size, _ in sorted(all_of, key=lambda c: c[0])] for rank, all_of in found.items()}

    def check_nesting(self):
        """Complete events of a row are disjoint or nested; the running part of a nonblocking call lies within it and ends with it."""
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
            # In microseconds: each rank converts the counter of its own processor.
            self.test.assertLessEqual(max(begin for begin, _ in all_of), min(end for _, end in all_of) + 0.1)


class Traces(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.file = pathlib.Path(self.folder.name) / "run.json"

    def left(self):
        return sorted(path.name for path in self.file.parent.iterdir())

    def merged(self):
        """The trace that chorale-trace makes of a job's parts; checks that no other file is left."""
        status, output = merge(self.file)
        self.assertEqual(status, 0, output)
        self.assertEqual(self.left(), ["run.json"], output)
        return Trace(self.file, self)

    def check_calls(self, mode, ranks):
        status, output, made = run(mode, ranks, self.file)
        self.assertEqual(status, 0, output)
        parts = list(self.file.parent.glob("run.json.*.parts/*"))
        self.assertEqual(len(parts), 3 * ranks, output)
        for part in parts:
            Trace(part, self).check_nesting()  # each part is also a complete trace
        trace = self.merged()
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
            # Replaces the trace of the previous job.
            self.check_calls("calls", ranks)

    @unittest.skipUnless(LAUNCHER, "there is no mpirun")
    def test_failing_call(self):
        status, output, made = run("failing", 3, self.file)
        self.assertEqual(status, 0, output)
        trace = self.merged()
        self.assertEqual(trace.calls(), made)
        failed = [(e["pid"], e["args"]["call"]) for e in trace.events if e.get("args", {}).get("failed")]
        self.assertEqual(sorted(failed), [(0, 3), (1, 3), (2, 3)])

    @unittest.skipUnless(LAUNCHER, "there is no mpirun")
    def test_killed_rank(self):
        status, output, _ = run("killed", 3, self.file)
        self.assertNotEqual(status, 0)
        parts = [name for name in self.left() if name.endswith(".parts")]
        self.assertEqual(len(parts), 1, output)
        status, said = merge("--keep", self.file)
        self.assertEqual(status, 0, said)
        self.assertRegex(said, "[1-3] of which were not closed")
        found = collections.defaultdict(list)
        for event in self.merged().events:
            if event.get("cat") == "call":
                found[event["pid"]].append(event["args"]["call"])
        # The launcher may have ended the others before they noticed that a rank was killed.
        for rank in range(3):
            self.assertEqual(found[rank][:3], [1, 2, 3], output)
        self.assertEqual(found[2], [1, 2, 3])
        status, said = merge(self.file)
        self.assertEqual(status, 1)
        self.assertIn("there are no parts", said)

    @unittest.skipUnless(LAUNCHER, "there is no mpirun")
    def test_child_of_fork(self):
        status, output, made = run("forked", 2, self.file)
        self.assertEqual(status, 0, output)
        self.assertEqual(self.merged().calls(), made)

    def test_more_records_than_there_is_room_for(self):
        status, output, made = run("2-many", 2, self.file, CHORALE_TRACE_RECORDS="50")
        self.assertEqual(status, 0, output)
        self.assertIn("CHORALE_TRACE_RECORDS", output)
        trace = self.merged()
        for rank, calls in trace.calls().items():
            self.assertLess(len(calls), 51)
            self.assertGreater(len(calls), 0)
            self.assertEqual(calls, made[rank][:len(calls)])
        self.assertEqual(sum("later records were dropped" in e["name"] for e in trace.events), 2)

    def test_two_jobs_with_one_file(self):
        environment = launch.on_soft0(CHORALE_TRACE=str(self.file), CHORALE_SAMPLING="0")
        jobs = [subprocess.Popen([TRACED, "2-many"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                for _ in range(2)]
        said = "".join(job.communicate(timeout=LIMIT)[1] for job in jobs)
        self.assertEqual([job.returncode for job in jobs], [0, 0], said)
        folders = list(self.file.parent.glob("run.json.*.parts"))
        self.assertEqual(len(folders), 2)
        status, output = merge(self.file, *folders)
        self.assertEqual(status, 1)
        self.assertIn("of several jobs", output)
        # First the later job, then the other.
        status, output = merge(self.file)
        self.assertEqual(status, 0, output)
        self.assertIn("is of an earlier job", output)
        first = Trace(self.file, self)
        second = self.merged()
        self.assertNotEqual(first.job, second.job)
        for trace in first, second:
            self.assertEqual({rank: len(of_rank) for rank, of_rank in trace.calls().items()}, {0: 300, 1: 300})

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
        status, output, _ = run("3-calls", 3, self.file, CHORALE_STATISTICS="1")
        self.assertEqual(status, 0, output)
        of_world = [table for table in output.split("chorale: calls of rank ")[1:] if "communicator 'the \"world\"'" in table.splitlines()[0]]
        self.assertEqual(len(of_world), 1, output)
        total = next(line.split() for line in of_world[0].splitlines() if line.startswith("all "))
        # The calls of the world itself, including the two that make the other communicators.
        self.assertEqual(int(total[1]), 9, of_world[0])


def part(rank, host, *events):
    """The text of a part of job 7, of a communicator of group 9 that has not ended."""
    owner = {"name": "chorale_job", "ph": "M", "pid": rank, "tid": 0, "args": {
        "job": "7", "group": "9", "number": 1, "rank": rank, "host": host, "home": rank}}
    return "[\n" + ",\n".join(json.dumps(event) for event in (owner, *events))


def barrier(rank, begin, end, number):
    """A barrier; times are in microseconds."""
    return {"pid": rank, "tid": 1, "ts": begin, "ph": "X", "dur": end - begin, "cat": "call", "name": "barrier", "args": {"bytes": 0, "call": number}}


class Clocks(unittest.TestCase):
    """The clocks of hosts are aligned by the calls of all ranks."""

    def test_hosts_that_meet(self):
        draw = random.Random(SEED)
        for hosts in 1, 2, 3, 7:
            wrong = [0, *(draw.randrange(-10**9, 10**9) for _ in range(hosts - 1))]
            calls, shortest, now = {}, 10**6, 0
            for call in range(40):
                # All begin within 1 ms; none ends before the last has begun.
                begins = [[now + draw.randrange(10**6) for _ in range(2)] for _ in range(hosts)]
                last = max(map(max, begins))
                ends = [[last + 1 + draw.randrange(2000) for _ in range(2)] for _ in range(hosts)]
                calls[call] = {h: (max(begins[h]) + wrong[h], min(ends[h]) + wrong[h]) for h in range(hosts)}
                shortest = min(shortest, max(map(max, ends)) - min(map(min, begins)))
                now = max(map(max, ends)) + 1000
            shifts = merging().shifts_of(calls, list(range(hosts)))
            self.assertEqual(len(shifts), hosts, f"seed {SEED}")
            for host, (shift, uncertainty) in shifts.items():
                self.assertTrue(0 <= uncertainty <= shortest, f"seed {SEED}")
                self.assertLessEqual(abs(shift + wrong[host]), uncertainty + 1, f"seed {SEED}")

    def test_hosts_that_meet_through_another(self):
        # Hosts 0 and 2 share calls with host 1 only; the clock of host 1 is 1000 ahead, that of host 2 is 500 behind.
        shifts = merging().shifts_of({1: {0: (100, 110), 1: (1102, 1111)}, 2: {1: (1200, 1210), 2: (-298, -290)}}, [0, 1, 2, 3])
        self.assertEqual(sorted(shifts), [0, 1, 2])
        for host, wrong in (1, 1000), (2, -500):
            self.assertLessEqual(abs(shifts[host][0] + wrong), shifts[host][1])
        self.assertLessEqual(shifts[1][1], shifts[2][1])


class Parts(unittest.TestCase):
    """Merging of made-up parts."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "run.json"
        self.parts = self.file.parent / "run.json.00000007.parts"
        self.parts.mkdir(0o700)

    def events(self, wanted_status=0):
        status, output = merge("--keep", self.file)
        self.assertEqual(status, wanted_status, output)
        return [e for e in json.loads(self.file.read_text(encoding="utf-8")) if e["ph"] != "M"] if status == 0 else [], output

    def test_hosts_with_other_clocks(self):
        ahead = 5e6
        (self.parts / "9.0.json").write_text(part(0, "one", barrier(0, 1, 2, 1), barrier(0, 9, 9.1, 2)), encoding="utf-8")
        (self.parts / "9.1.json").write_text(part(1, "two", barrier(1, 1.001 + ahead, 2 + ahead, 1), barrier(1, 9 + ahead, 9.101 + ahead, 2)),
                                             encoding="utf-8")
        events, output = self.events()
        self.assertIn("4 records of 2 parts, 2 of which were not closed; 0 records", output)
        self.assertIn("clock of host two: shifted by -50000000", output)
        # The clock of the second host is aligned with the first to within the 100 ns that the shorter call took.
        begins = {(e["pid"], e["args"]["call"]): e["ts"] for e in events}
        self.assertEqual(begins[0, 2], 9)
        self.assertAlmostEqual(begins[1, 2], 9, delta=0.101)

    def test_nonblocking_calls_align_by_when_they_ran(self):
        for rank, host, wrong in (0, "one", 0), (1, "two", 1000):
            call = {"pid": rank, "tid": 1000001, "ts": wrong, "ph": "X", "dur": 50, "cat": "nonblocking", "name": "iallreduce",
                    "args": {"bytes": 8, "call": 1}}
            runs = {**call, "ts": wrong + 49, "dur": 1, "name": "runs", "args": {"call": 1}}
            (self.parts / f"9.{rank}.json").write_text(part(rank, host, call, runs), encoding="utf-8")
        self.assertIn("shifted by -1000000 ns to that of one, give or take 1000 ns", self.events()[1])

    def test_waits_belong_to_the_call_that_follows(self):
        wait = {"pid": 0, "tid": 1, "ts": 1, "ph": "X", "dur": 1, "name": "wait for rank 1"}
        other = {**wait, "args": {"call": 1}}
        (self.parts / "9.0.json").write_text(part(0, "one", wait, other, barrier(0, 1, 2, 7), wait), encoding="utf-8")
        events, _ = self.events()
        self.assertEqual([(e["name"], e["cat"], e.get("args", {}).get("call")) for e in events],
                         [("wait for rank 1", "wait", 7), ("wait for rank 1", "wait", 1), ("barrier", "call", 7), ("wait for rank 1", "wait", None)])

    def test_what_a_killed_rank_leaves(self):
        """What is not yet in the file is in its tail, wherever between the two writes the rank was killed."""
        first = part(0, "one", barrier(0, 1, 2, 1))
        second = ",\n" + json.dumps(barrier(0, 3, 4, 2))
        size = len(first)
        for text, tail, calls in ((first, f"{size:020}\n\0", [1]), (first, f"{size:020}\n{second}\0rest", [1, 2]),
                                  (first + second[:20], f"{size:020}\n{second}\0", [1, 2]), (first + second, f"{size:020}\n{second}\0", [1, 2]),
                                  (first + second, f"{size:020}\n\0{second[1:]}", [1, 2]), (first + second, f"{size + 99:020}\n\0", [1, 2]),
                                  ("", f"{0:020}\n{first}\0", [1])):
            (self.parts / "9.0.json").write_text(text, encoding="utf-8")
            (self.parts / "9.0.tail").write_text(tail, encoding="utf-8")
            self.assertEqual([e["args"]["call"] for e in self.events()[0]], calls, (text, tail))

    def test_damaged_parts(self):
        good = part(0, "one", barrier(0, 1, 2, 1))
        (self.parts / "9.0.json").write_text(good, encoding="utf-8")
        for text in "", "x" * 100, "[]", "[\n{}", "[\n3":
            (self.parts / "9.1.json").write_text(text, encoding="utf-8")
            events, output = self.events()
            self.assertIn("9.1.json is left out: it is no part of a trace", output)
            self.assertEqual(len(events), 1)
        draw = random.Random(SEED)
        for _ in range(8):
            damaged = bytearray(good.encode())
            for _ in range(4):
                # After the first event, which identifies the job.
                damaged[draw.randrange(good.index(",\n"), len(damaged))] = draw.randrange(256)
            (self.parts / "9.1.json").write_bytes(damaged)
            self.assertGreaterEqual(len(self.events()[0]), 1, f"seed {SEED}")
        (self.parts / "9.1.json").write_text("x", encoding="utf-8")
        self.assertIn("stays, since there is more in it", merge(self.file)[1])
        self.assertEqual([part.name for part in self.parts.iterdir()], ["9.1.json"])
        self.assertIn("9.1.json is left out", self.events(1)[1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
