#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs chorale-sim and checks the events that it shows. Usage: sim_seen_test.py SIM"""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest
import xml.etree.ElementTree

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import running  # noqa: E402

SIM = sys.argv[1]
# A reduction tree of 5 ranks on 5 hosts, whose messages have slightly more than 2 KiB.
FIVE = ("allreduce", "--machine", "infinihost-pcix-8", "--ranks", "5", "--sizes", "2K", "--algorithm", "degree_k<3>")

GNUPLOT = "gnuplot-nox is not installed (tools/install-dependencies --ci)"


def run(*arguments, **variables):
    return running.run(SIM, *arguments, **variables)


class Seen(running.InFolder):
    def show(self, *arguments):
        """The output of a run that must succeed."""
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
        # Each message of the tree contains the whole operand; a call sends 4 of them up and 4 down.
        whole = [event for event in slices if event["cat"] == "message" and event.get("args", {}).get("bytes", 0) >= 2048]
        self.assertEqual(len(whole), 4 * 8)
        for event in slices:
            self.assertGreaterEqual(event["dur"], 0)
            self.assertTrue(event["name"], event)

    def test_slices_of_a_thread_lie_within_each_other_or_apart(self):
        threads = collections.defaultdict(list)
        for event in self.trace(*FIVE):
            if event["ph"] == "X":
                # In picoseconds, since times are not whole microseconds.
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
            if event["cat"] == "wait":  # cut to the window
                self.assertGreaterEqual(event["ts"], 500)
                self.assertLessEqual(event["ts"] + event["dur"], 520.5 + 1e-6)

    def parts_of_path(self, text):
        """(length, {activity: us}) of a critical path in words."""
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
            # Each part is rounded to a thousandth.
            self.assertAlmostEqual(sum(time for _, time in parts.values()), whole, delta=0.001 * len(parts))
            self.assertAlmostEqual(sum(share for share, _ in parts.values()), 100, delta=0.01 * len(parts))

    def test_a_critical_path_of_a_broadcast_goes_from_the_root_down(self):
        text = self.show("broadcast", "--machine", "infinihost-pcix-8", "--ranks", 8, "--sizes", 64, "--algorithm",
                         "chain", "--critical-path")
        ranks = [(int(a), int(b)) for a, b in re.findall(r"(\d+) -> (\d+)$", text, re.MULTILINE)]
        self.assertEqual(ranks, [(rank, rank + 1) for rank in range(7)])

    def schedule(self, *arguments):
        """(ranks, {rank: {label: (words of an operation, labels that it requires)}}) of a schedule, parsed as strictly as by LogGOPSim."""
        file = self.folder / "out.goal"
        self.show(*arguments, "--goal", file)
        lines = [line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("//")]
        ranks = int(re.fullmatch(r"num_ranks (\d+)", lines.pop(0)).group(1))
        programs = {}
        rank = None
        for line in lines:
            if begin := re.fullmatch(r"rank (\d+) {", line):
                self.assertIsNone(rank)
                rank = int(begin.group(1))
                programs[rank] = {}
            elif line == "}":
                rank = None
            elif later := re.fullmatch(r"(l\d+) requires (l\d+)", line):
                self.assertIn(later.group(2), programs[rank])
                programs[rank][later.group(1)][1].append(later.group(2))
            else:
                label, operation = re.fullmatch(
                    r"(l\d+): ((?:calc \d+|send \d+b to \d+ tag \d+|recv \d+b from \d+ tag \d+)(?: cpu \d+)?)", line).groups()
                self.assertNotIn(label, programs[rank])
                programs[rank][label] = (operation.split(), [])
        self.assertEqual(sorted(programs), list(range(ranks)))
        return ranks, programs

    def check_schedule(self, ranks, programs):
        """Checks that sends and receives match, and that the schedule completes. Returns the messages: (from, to, bytes)."""
        sends, receives = {}, {}
        for rank, program in programs.items():
            for what, *rest in (operation for operation, _ in program.values()):
                if what == "calc":
                    self.assertGreater(int(rest[0]), 0)
                    continue
                size, peer, tag = int(rest[0].rstrip("b")), int(rest[2]), int(rest[4])
                self.assertGreater(size, 0)
                self.assertLess(peer, ranks)
                ends, message = (sends, (rank, peer, size)) if what == "send" else (receives, (peer, rank, size))
                self.assertNotIn(tag, ends)
                ends[tag] = message
        self.assertEqual(sends, receives)
        # Executes every possible operation until none is left.
        done, sent, gone_on = set(), set(), True
        while gone_on:
            gone_on = False
            for rank, program in programs.items():
                for label, (operation, after) in program.items():
                    tag = operation[5] if operation[0] != "calc" else None
                    if (rank, label) in done or any((rank, one) not in done for one in after) or (
                            operation[0] == "recv" and tag not in sent):
                        continue
                    done.add((rank, label))
                    gone_on = True
                    if operation[0] == "send":
                        sent.add(tag)
        self.assertEqual(len(done), sum(len(program) for program in programs.values()))
        return list(sends.values())

    def test_a_schedule_says_from_when_on_a_send_may_wait_for_its_receive(self):
        """LogGOPSim sends messages longer than -S, 65535 by default, by rendezvous: this allgather would deadlock."""
        ranks, programs = self.schedule("allgather", "--machine", "hdr-64core", "--ranks", 4, "--ranks-per-host", 1, "--sizes", "128K")
        head = re.search(r"LogGOPSim -S (\d+)$", (self.folder / "out.goal").read_text(encoding="utf-8"), re.MULTILINE)
        self.assertEqual(int(head.group(1)), 1 + max(size for _, _, size in self.check_schedule(ranks, programs)))

    def test_a_schedule_has_the_messages_of_the_tree(self):
        messages = self.check_schedule(*self.schedule(*FIVE))
        # In each of four calls, every rank but the root sends its operand up and receives the result.
        whole = collections.Counter((one, other) for one, other, size in messages if size >= 2048)
        self.assertEqual(sum(whole.values()), 4 * 8)
        self.assertEqual(set(whole.values()), {4})
        self.assertEqual({other for _, other in whole}, set(range(5)))

    def test_a_schedule_of_other_transports(self):
        for given in (("alltoall", "--transport", "rc_send_receive", "--sizes", "128K"),
                      ("allgather", "--transport", "ud", "--sizes", "2K"), ("scatter", "--algorithm", "fetch", "--sizes", "1M"),
                      ("broadcast", "--algorithm", "multicast", "--transport", "ud", "--sizes", "1K")):
            machine = "infinihost-pcix-8" if given[0] != "broadcast" else "hdr-64core"
            messages = self.check_schedule(*self.schedule(*given, "--machine", machine, "--ranks", 4))
            self.assertGreater(len(messages), 10, given)
            if "fetch" in given:  # the requests to the root have a byte each, and the data comes from it
                self.assertEqual({(one, other) for one, other, size in messages if size == 1 << 20}, {(0, 1), (0, 2), (0, 3)})

    def test_one_failure_does_not_keep_the_others(self):
        goal = self.folder / "schedule.goal"
        done = run(*FIVE, "--trace", "/dev/full", "--goal", goal, "--critical-path")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("cannot write /dev/full: No space left", done.stderr)
        self.assertIn("critical path of the last call", done.stdout)
        self.assertIn("num_ranks 5", goal.read_text(encoding="utf-8"))
        self.assertEqual(list(self.folder.iterdir()), [goal])

    def test_a_pipe_is_opened_once(self):
        """Its reader gets the schedule, instead of the end of a check."""
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
            done = run(*FIVE, "--goal", pipe)
            # Releases a reader whose pipe nobody has opened.
            os.close(os.open(pipe, os.O_RDWR))
            self.assertIn("num_ranks 5", reader.communicate(timeout=60)[0], done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_run_that_fails_leaves_no_file(self):
        done = run("barrier", "--machine", "hdr-64core", "--ranks", 2, "--goal", self.folder / "schedule.goal", "--window", "1e6,2e6")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("all had ended", done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_window_has_a_length(self):
        for window in ("5,5", "5,5.0000001", "6,5", "nan,7", "5,", ",5", "5,6x"):
            done = run("barrier", "--machine", "hdr-64core", "--ranks", 2, "--timeline", self.folder / "picture.svg", "--window", window)
            self.assertEqual(done.returncode, 2, window)
            self.assertIn("--window", done.stderr)

    @unittest.skipUnless(shutil.which("gnuplot"), GNUPLOT)
    def test_a_timeline_is_xml_with_a_row_for_each_rank(self):
        file = self.folder / "timeline.svg"
        self.show(*FIVE, "--timeline", file)
        picture = xml.etree.ElementTree.parse(file).getroot()
        name = "{http://www.w3.org/2000/svg}"
        self.assertEqual(picture.tag, name + "svg")
        texts = [" ".join("".join(one.itertext()).split()) for one in picture.iter(name + "text")]
        self.assertTrue([text for text in texts if text.startswith("the last sample of allreduce degree_k<3> over rc, 2048 bytes")], texts)
        for rank in range(5):
            self.assertIn(f"rank {rank}", texts)
        self.assertTrue([text for text in texts if "in µs" in text], texts)
        for word in ("copying", "waiting", "posting"):
            self.assertIn(word, texts)
        wide, high = float(picture.get("width")), float(picture.get("height"))
        bars = [one for one in picture.iter(name + "polygon") if one.find(name + "title") is not None]
        self.assertGreater(len(bars), 100)
        # The bars of a rank fill the whole window of 1200 pixels; the title of each has its activity and its time.
        rows = collections.Counter()
        colours = collections.defaultdict(set)
        length = max(float(text) for one in bars for text in re.findall(r" to ([0-9.]+) µs", one.find(name + "title").text))
        for one in bars:
            xs, ys = zip(*(map(float, corner.split(",")) for corner in one.get("points").split()))
            self.assertTrue(0 <= min(xs) and max(xs) <= wide and 0 <= min(ys) and max(ys) <= high, one.attrib)
            rows[min(ys)] += max(xs) - min(xs)
            colours[one.find(name + "title").text.partition(" of rank ")[0]].add(one.get("fill"))
            begin, end = map(float, re.search(r", ([0-9.]+) to ([0-9.]+) µs$", one.find(name + "title").text).groups())
            self.assertAlmostEqual(min(xs), 80 + 1200 * begin / length, delta=1)
            self.assertAlmostEqual(max(xs), 80 + 1200 * end / length, delta=1)
        self.assertEqual((len(rows), {len(fills) for fills in colours.values()}, len(set.union(*colours.values()))), (5, {1}, len(colours)), colours)
        for width in rows.values():
            self.assertAlmostEqual(width, 1200, delta=10)
        # A line for each message, from the row of one rank to that of another.
        middles = sorted(row + 7 for row in rows)
        whole = 0
        for one in picture.iter(name + "path"):
            title = one.find(name + "title")
            if title is not None and (told := re.match(r"(\d+) B, rank (\d) to (\d), ([0-9.]+) to ([0-9.]+) µs$", title.text)):
                size, begin, end = int(told[1]), float(told[4]), float(told[5])
                (left, top), (right, bottom) = (map(float, place.split(",")) for place in re.findall(r"[\d.]+,[\d.]+", one.get("d")))
                for found, wanted in ((left, 80 + 1200 * begin / length), (right, 80 + 1200 * end / length), (top, middles[int(told[2])]),
                                      (bottom, middles[int(told[3])])):
                    self.assertAlmostEqual(found, wanted, delta=1, msg=title.text)
                whole += size >= 2048
        self.assertEqual(whole, 4 * 8)

    @unittest.skipUnless(shutil.which("gnuplot"), GNUPLOT)
    def test_a_timeline_of_a_trace(self):
        """Equals the timeline drawn during the simulation."""
        self.show(*FIVE, "--timeline", self.folder / "once.svg", "--trace", self.folder / "trace.json")
        plot = pathlib.Path(SIM).resolve().parent / "chorale-plot"
        subprocess.run([plot, "timeline", self.folder / "trace.json", "--out", self.folder / "again.svg"], check=True, timeout=300)
        once, again = ((self.folder / f"{which}.svg").read_bytes() for which in ("once", "again"))
        self.assertEqual(once, again)
        whole = {"traceEvents": [], "otherData": {"of": "a call", "ranks": 5, "window": {"begin": 1, "end": 1}}}
        for document, said in ((json.dumps(whole), "a call took no time"), ("{", "Expecting property name"), ("[]", 'it has no list "traceEvents"'), ('{"traceEvents": []}', "chorale-sim --trace writes"),
                               ('{"traceEvents": [3], "otherData": {}}', "it is no trace that chorale-sim has written")):
            done = subprocess.run([plot, "timeline"], input=document, capture_output=True, text=True, timeout=300, check=False)
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
            self.assertTrue(done.stderr.startswith("chorale-plot: "), done.stderr)
            self.assertIn(said, done.stderr)

    def test_without_gnuplot(self):
        """Reported before anything is simulated."""
        (self.folder / "python3").symlink_to(pathlib.Path(sys.executable).resolve())
        done = run(*FIVE, "--timeline", self.folder / "picture.svg", PATH=str(self.folder))
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("gnuplot is not installed (on Debian and Ubuntu: apt-get install gnuplot-nox)", done.stderr)

    def test_progress(self):
        done = run(*FIVE, "--progress")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"1/1 allreduce 2048 B\n(.*\n)*[0-9.]+ ms of virtual time, [0-9.]+ M events, ")
        self.assertEqual(run(*FIVE).stderr, "")

    def test_mistakes(self):
        nowhere = self.folder / "no" / "where"
        for given, said in ((("--trace", nowhere), "No such file"), (("--trace", self.folder), "cannot write"),
                            (("--window", "call"), "needs --trace"),
                            (("--goal", nowhere), "No such file"), (("--timeline", nowhere), "No such file"),
                            (("--goal", self.folder / "a", "--timeline", self.folder / "a"), "the same file"),
                            (("--critical-path", "--window", "5"), "FROM,TO"),
                            (("--critical-path", "--window", "9,5"), "FROM,TO"),
                            (("--critical-path", "--window", "5,9us"), "FROM,TO"),
                            (("--critical-path", "--records", "0"), "records")):
            done = run(*FIVE, *given)
            self.assertEqual(done.returncode, 2, (given, done.stdout + done.stderr))
            self.assertIn(said, done.stderr)
        done = run("barrier", "--machine", "hdr-64core", "--ranks", "65", "--timeline", self.folder / "a.svg")
        self.assertEqual(done.returncode, 2)
        self.assertIn("65 ranks are more than the 64", done.stderr)

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
