#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs chorale-sim and checks its output. Usage: sim_test.py SIM"""
import json
import os
import pathlib
import re
import resource
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import running  # noqa: E402

SIM = sys.argv[1]


class Sim(running.InFolder):
    def measure(self, *arguments, **variables):
        """(JSON, table) of a run that must succeed."""
        return self.result(SIM, *arguments, **variables)

    def test_the_same_again(self):
        given = ("allreduce", "barrier", "--machine", "infinihost-pcix-8", "--ranks", 5, "--algorithms", "--sizes",
                 "8,64K", "--check", "--transport", "rc,rc_send_receive,ud", "--links")
        first, table = self.measure(*given)
        # A longer name takes heap memory, after which other buffers lie elsewhere in their pages.
        again, other = self.result(SIM, *given, file=f"{'long' * 20}.json")
        self.assertEqual(first, again)
        self.assertEqual(table, other)
        self.assertEqual({row["operation"] for row in first["rows"]}, {"allreduce", "barrier"})
        for row in first["rows"]:
            self.assertEqual(row["wrong_ranks"], 0, row)
            self.assertGreater(row["median"], 0, row)

    def test_many_ranks_make_one_communicator(self):
        """Up to 128 ranks agree through an additional communicator, which sends as many farewells at its end as the measured one."""
        messages = {}
        for ranks in (128, 129):
            told, table = self.measure("broadcast", "--machine", "hdr-64core", "--ranks-per-host", 1, "--ranks", ranks, "--links",
                                       "--algorithm", "flat", "--sizes", 8, "--warmup", 0, "--iterations", 1, "--samples", 1, "--check")
            row, = told["rows"]
            self.assertEqual((row["algorithm"], row["wrong_ranks"]), ("flat", 0))
            self.assertLess(0, row["min"])
            self.assertLessEqual(row["min"], row["median"])
            self.assertLessEqual(row["median"], row["max"])
            self.assertIn("sim0", told["about"]["device"])
            found = re.search(r"^ *\d+ +(\d+) +\S+ +\S+  host 100 to ", table, re.MULTILINE)
            messages[ranks] = int(found[1])
        self.assertGreater(messages[129], 128)
        self.assertLess(messages[129], 0.75 * messages[128])

    def test_a_machine_without_datagrams(self):
        done = running.run(SIM, "barrier", "--machine", "clan2003", "--ranks", 2, "--transport", "rc,ud")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--transport ud: the adapters of clan2003 have no datagrams", done.stderr)
        self.measure("barrier", "--machine", "clan2003", "--ranks", 2, "--transport", "rc,rc_send_receive")

    def test_what_it_says_of_itself(self):
        told, _ = self.measure("barrier", "--machine", "infinihost-pcix-8", "--ranks", 2, "--seed", 7,
                               CHORALE_DEVICE="soft0")
        about = told["about"]
        self.assertEqual((about["machine"], about["seed"], told["ranks"]), ("infinihost-pcix-8", "7", 2))
        self.assertIn("virtual", about["time"])
        self.assertIn("sim0", about["device"])

    def test_times_are_those_of_the_machine(self):
        """In a barrier of two ranks, one word travels each way simultaneously: a write takes 5.5 us on this machine, and the ranks' own
        work less than half of that. 64 KiB take at least 75 us over its bus of 870 MB/s."""
        told, _ = self.measure("barrier", "--machine", "infinihost-pcix-8", "--ranks", 2, "--algorithm",
                               "dissemination", "--iterations", 10)
        time = [row["median"] for row in told["rows"] if row["algorithm"] == "dissemination"]
        self.assertEqual(len(time), 1)
        self.assertGreater(time[0], 5.5)
        self.assertLess(time[0], 8.5)
        told, _ = self.measure("broadcast", "--machine", "infinihost-pcix-8", "--ranks", 2, "--algorithm", "binomial",
                               "--sizes", "64K")
        for row in told["rows"]:
            self.assertGreater(row["max"], 65536 / 870, row)

    def test_hosts(self):
        shared, _ = self.measure("barrier", "--machine", "hdr-64core", "--ranks", 8)
        apart, _ = self.measure("barrier", "--machine", "hdr-64core", "--ranks", 8, "--ranks-per-host", 1)
        self.assertIn("1 of 1024", shared["about"]["hosts"])
        self.assertIn("8 of 1024", apart["about"]["hosts"])
        self.assertNotEqual(shared["rows"], apart["rows"])

    def test_numbering_of_ranks(self):
        given = ("allgather", "--machine", "hdr-64core", "--ranks", 6, "--ranks-per-host", 3, "--algorithm", "ring", "--sizes",
                 "64K", "--check")
        by_host, _ = self.measure(*given)
        cyclic, _ = self.measure(*given, "--cyclic")
        self.assertEqual(by_host["about"]["hosts"], "2 of 1024, with 3 ranks each")
        self.assertEqual(cyclic["about"]["hosts"], "2 of 1024, with 3 ranks each, in turn")
        times = []
        for told in (by_host, cyclic):
            ring = [row for row in told["rows"] if row["algorithm"] == "ring"]
            self.assertEqual([row["wrong_ranks"] for row in ring], [0])
            times.append(ring[0]["median"])
        # In each of the five steps a host's adapter sends three blocks instead of one.
        self.assertGreater(times[1], 1.2 * times[0])

    def test_ranks_that_share_cores_take_longer_and_it_says_so(self):
        given = ("barrier", "--machine", "infinihost-pcix-8", "--algorithm", "dissemination", "--check")
        shared, _ = self.measure(*given, "--ranks", 4, "--ranks-per-host", 4)
        self.assertEqual(shared["about"]["cores"], "2 of a host, which its ranks share")
        alone, _ = self.measure(*given, "--ranks", 4, "--ranks-per-host", 2)
        self.assertNotIn("cores", alone["about"])
        times = [[row["median"] for row in told["rows"] if row["algorithm"] == "dissemination"][0]
                 for told in (shared, alone)]
        # Two ranks on a core take turns, which costs 3 us on this machine.
        self.assertGreater(times[0], times[1])

    def test_links(self):
        """The load of a link is what crosses it: messages of 1 MiB to one host, and a header for each packet."""
        _, table = self.measure("broadcast", "--machine", "infinihost-pcix-8", "--ranks", 2, "--algorithm", "binomial",
                                "--sizes", "1M", "--iterations", 1, "--links")
        _, _, links = table.partition("# links")
        rows = [line.split(None, 4) for line in links.splitlines()[2:]]
        loads = {name: int(number) for number, _, _, _, name in rows}
        self.assertEqual(set(loads), {f"{a} to {b}" for host in ("host 0", "host 1")
                                      for a, b in ((host, "the switch"), ("the switch", host))}, table)
        self.assertEqual(loads["host 0 to the switch"], loads["the switch to host 1"])
        calls = loads["host 0 to the switch"] // (1 << 20)
        self.assertGreater(calls, 1)
        self.assertLess(loads["host 0 to the switch"], (calls + 1) << 20)
        self.assertLess(loads["host 1 to the switch"], 1 << 18)

    def test_set_ups(self):
        document = {"set_ups": [{"name": "one", "operation": "barrier", "contestants": [
            {"name": "RPE", "transport": "rc", "algorithm": "pairwise_exchange"}]}]}
        plan = self.folder / "plan.json"
        plan.write_text(json.dumps(document), encoding="utf-8")
        told, _ = self.measure("--machine", "infinihost-pcix-16", "--ranks", 16, "--check", "--set-ups", plan)
        self.assertEqual([(row["set_up"], row["contestant"], row["wrong_ranks"]) for row in told["rows"]],
                         [("one", "RPE", 0)])

    def test_more_files_than_the_soft_limit(self):
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (32, limit[1]))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, limit)
        self.measure("barrier", "--machine", "hdr-64core", "--ranks", 32, "--algorithm", "dissemination")

    def test_list(self):
        done = running.run(SIM, "--list")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(re.search(r"^barrier +rc +dissemination ", done.stdout, re.MULTILINE), done.stdout)

    def test_machines_that_are_no_files(self):
        """Reading them must neither block nor continue without end."""
        os.mkfifo(self.folder / "pipe")
        for name in self.folder / "pipe", "/dev/urandom", "/dev/zero":
            done = running.run(SIM, "barrier", "--ranks", 2, "--machine", name)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn("it is no regular file", done.stderr)

    def test_a_table_that_cannot_be_written(self):
        done = running.run(SIM, "barrier", "--machine", "infinihost-pcix-8", "--ranks", 2, "--table", self.folder / "no/t.json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no/t.json: No such file", done.stderr)
        self.assertNotIn("# barrier", done.stdout)

    def test_mistakes(self):
        two = ("--machine", "infinihost-pcix-8", "--ranks", 2)
        for given, said in ((("barrier", "--ranks", 2), "--machine"), (("barrier", "--machine", "hdr-64core"), "--ranks"),
                            (("barrier", "--machine", "cray-1", "--ranks", 2), "cray-1"),
                            (("barrier", "--machine", "infinihost-pcix-8", "--ranks", 9), "has 8 hosts"),
                            (("barrier", *two, "--ranks-per-host", 0), "ranks-per-host"),
                            (("allreduse", *two), "allreduse"), (("allreduce", *two, "--sizes", "8,x"), "sizes"),
                            (("barrier", *two, "--transport", "tcp"), "tcp"),
                            (("barrier", *two, "--algorithm", "quantum"), "no algorithm is selected")):
            done = running.run(SIM, *given)
            self.assertEqual(done.returncode, 2, (given, done.stderr))
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
