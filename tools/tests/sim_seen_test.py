#!/usr/bin/env python3
"""Runs chorale-sim and looks at what it shows of what happened. Usage: sim_seen_test.py SIM"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SIM = sys.argv[1]
# A reduction tree of 5 ranks on 5 hosts, whose messages are of 2 KiB and some bytes.
FIVE = ("allreduce", "--machine", "infinihost-pcix-8", "--ranks", "5", "--sizes", "2K", "--algorithm", "degree_k<3>")


def run(*arguments):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CHORALE_")}
    return subprocess.run([SIM, *map(str, arguments)], env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=100, check=False)


class Seen(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def show(self, *arguments):
        """What a run that must succeed has printed."""
        done = run(*arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def trace(self, *arguments, name="trace.json"):
        file = self.folder / name
        self.show(*arguments, "--trace", file)
        return json.loads(file.read_text(encoding="utf-8"))["traceEvents"]

    def test_a_trace_has_what_ranks_did(self):
        events = self.trace(*FIVE)
        slices = [event for event in events if event["ph"] == "X"]
        self.assertEqual({event["pid"] for event in slices}, set(range(5)))
        names = collections.Counter(event["name"] for event in slices)
        for name in ("post", "copy", "combine", "wait for message", "leave", "wire", "place"):
            self.assertGreater(names[name], 4, names)
        # Four calls in the last sample, on five ranks.
        calls = [event for event in slices if event["name"] == "allreduce degree_k<3> over rc, 2048 bytes"]
        self.assertEqual(len(calls), 20)
        # The whole operand is in each message of the tree; a call takes 4 of them up and 4 down.
        whole = [event for event in slices if event["cat"] == "message" and event.get("args", {}).get("bytes", 0) >= 2048]
        self.assertEqual(len(whole), 4 * 8)
        for event in slices:
            self.assertGreaterEqual(event["dur"], 0)
            self.assertTrue(event["name"], event)

    def test_slices_of_a_thread_lie_within_each_other_or_apart(self):
        threads = collections.defaultdict(list)
        for event in self.trace(*FIVE):
            if event["ph"] == "X":
                # In picoseconds: microseconds are no whole numbers.
                begin = round(event["ts"] * 1e6)
                threads[event["pid"], event["tid"]].append((begin, -(begin + round(event["dur"] * 1e6))))
        for where, slices in threads.items():
            around = []
            for begin, end in sorted(slices):
                while around and around[-1] <= begin:
                    around.pop()
                if around:
                    self.assertLessEqual(-end, around[-1], where)
                around.append(-end)

    def test_arrows_go_from_posting_to_where_it_is_seen(self):
        events = self.trace(*FIVE)
        posts = {(event["pid"], event["tid"], event["ts"]) for event in events if event.get("name") == "post"}
        begins = {event["id"]: event for event in events if event["ph"] == "s"}
        ends = {event["id"]: event for event in events if event["ph"] == "f"}
        self.assertEqual(begins.keys(), ends.keys())
        messages = {event["args"]["message"]: event for event in events
                    if event.get("cat") == "message" and "args" in event}
        self.assertGreater(len(begins), 30)
        self.assertEqual(begins.keys(), messages.keys())
        for number, begin in begins.items():
            self.assertIn((begin["pid"], begin["tid"], begin["ts"]), posts)
            message = messages[number]
            self.assertEqual((begin["pid"], ends[number]["pid"]), (message["pid"], message["args"]["to rank"]))
            self.assertAlmostEqual(ends[number]["ts"], message["ts"] + message["dur"], places=4)

    def test_the_same_bytes_again(self):
        for again in ("one", "two"):
            self.show(*FIVE, "--window", "all", "--trace", self.folder / again)
        one, two = ((self.folder / name).read_bytes() for name in ("one", "two"))
        self.assertGreater(len(one), 100_000)
        self.assertEqual(one, two)

    def test_a_window_in_us(self):
        events = self.trace(*FIVE, "--window", "500,520.5")
        slices = [event for event in events if event["ph"] == "X"]
        self.assertTrue(slices)
        for event in slices:
            self.assertLess(event["ts"], 520.5)
            self.assertGreater(event["ts"] + event["dur"], 500)

    def parts_of_path(self, text):
        """(whole, {what: us}) of a critical path in words."""
        _, _, path = text.partition("# critical path of ")
        self.assertTrue(path, text)
        whole = float(re.search(r"^([0-9.]+) us, from", path, re.MULTILINE).group(1))
        parts = {what: (float(share), float(time)) for share, time, what in
                 re.findall(r"^ *([0-9.]+)% +([0-9.]+) us  (.+)$", path, re.MULTILINE)}
        return whole, parts

    def test_a_critical_path_adds_up(self):
        for window in ("call", "sample", "all", "500,520.5"):
            whole, parts = self.parts_of_path(self.show(*FIVE, "--critical-path", "--window", window))
            self.assertEqual(parts.pop("in all"), (100.0, whole))
            # Each is rounded to a thousandth.
            self.assertAlmostEqual(sum(time for _, time in parts.values()), whole, delta=0.001 * len(parts))
            self.assertAlmostEqual(sum(share for share, _ in parts.values()), 100, delta=0.01 * len(parts))

    def test_a_critical_path_of_a_broadcast_goes_from_the_root_down(self):
        text = self.show("broadcast", "--machine", "infinihost-pcix-8", "--ranks", 8, "--sizes", 64, "--algorithm",
                         "chain", "--critical-path")
        ranks = [(int(a), int(b)) for a, b in re.findall(r"(\d+) -> (\d+)$", text, re.MULTILINE)]
        self.assertEqual(ranks, [(rank, rank + 1) for rank in range(7)])

    def test_mistakes(self):
        nowhere = self.folder / "no" / "where"
        for given, said in ((("--trace", nowhere), "No such file"), (("--trace", self.folder), "cannot write"),
                            (("--window", "call"), "go with it"),
                            (("--critical-path", "--window", "5"), "FROM,TO"),
                            (("--critical-path", "--window", "9,5"), "FROM,TO"),
                            (("--critical-path", "--window", "5,9us"), "FROM,TO"),
                            (("--critical-path", "--records", "0"), "records")):
            done = run(*FIVE, *given)
            self.assertEqual(done.returncode, 2, (given, done.stdout + done.stderr))
            self.assertIn(said, done.stderr)

    def test_what_is_gone_is_not_shown(self):
        for given in (("--critical-path", "--window", "all"), ("--trace", self.folder / "trace.json"),
                      ("--critical-path",)):
            done = run(*FIVE, *given, "--records", 4)
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertIn("--records", done.stderr)
        done = run(*FIVE, "--critical-path", "--window", "1e9,2e9")
        self.assertEqual(done.returncode, 1)
        self.assertIn("had ended", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
