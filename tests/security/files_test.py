#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Another user of the host can do no harm through the files of a job, or at its start.

Usage: files_test.py VICTIM CHORALE_BENCH|none, the program of victim.cpp and a tool that may not be built. Skipped (77) if
there is no launcher, or if this user cannot become two others.
"""
import fcntl
import json
import os
import pathlib
import re
import socket
import stat
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / folder) for folder in ("security", "multirank", "support")]
import launch  # noqa: E402
from privileged import as_user, why_not_as  # noqa: E402
from users import OTHER, SELF, Attack  # noqa: E402

VICTIM, BENCH = sys.argv[1:3]
TRACE = pathlib.Path(__file__).resolve().parent.parent.parent / "tools/trace/chorale-trace.py"
LIMIT = 120
SEALED = 0x7  # F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW


def locked(path, mode):
    """An open file with an exclusive lock."""
    file = open(path, mode)  # pylint: disable=consider-using-with
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


def fnv1a(text):
    """The hash of include/chorale/core/fnv.hpp."""
    value = 0xcbf29ce484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return value


class Job:
    """The victim's program, stopped at the point where it waits for the test."""

    def __init__(self, mode, ranks=2, **variables):
        environment = launch.on_soft0("OMPI_", "PMIX_", **{"CHORALE_SILENCE_MS": "60000", "TMPDIR": "/tmp", **variables})
        self.process = subprocess.Popen(as_user(SELF, [*launch.mpirun(), "-n", str(ranks), VICTIM, mode]), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=environment)
        self.before = ""
        for line in self.process.stdout:
            if line == "ready\n":
                break
            self.before += line

    def go_on(self):
        """(exit status, all output) of the job."""
        try:
            output, _ = self.process.communicate("\n", timeout=LIMIT)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            output, _ = self.process.communicate()
            raise AssertionError("the job hangs: " + self.before + output) from None
        return self.process.returncode, self.before + output


class Case(unittest.TestCase):
    """A world-writable folder, and a file of the victim outside it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.chmod(folder.name, 0o755)
        self.shared = pathlib.Path(folder.name) / "shared"
        self.own = pathlib.Path(folder.name) / "own"
        # Without the sticky bit, since fs.protected_symlinks would otherwise do the work.
        self.shared.mkdir()
        self.shared.chmod(0o777)
        self.own.mkdir()
        os.chown(self.own, SELF, SELF)
        self.precious = self.own / "precious"
        self.precious.write_text("precious", encoding="utf-8")
        os.chown(self.precious, SELF, SELF)

    def check_precious(self):
        self.assertEqual(self.precious.read_text(encoding="utf-8"), "precious")
        self.assertEqual(sorted(os.listdir(self.own)), ["precious"])

    def run_victim(self, mode="once", **variables):
        return Job(mode, **variables).go_on()

    def run_tool(self, *words):
        """(exit status, output) of a tool run by the victim."""
        if words[0] == "none":
            self.skipTest("the tools are not built")
        return launch.run(as_user(SELF, ["env", "CHORALE_DEVICE=soft0", *map(str, words)]), LIMIT)


class Names(Case):
    """File names that lead elsewhere."""

    def test_links_of_others_are_not_followed(self):
        link = self.shared / "result"
        quick = ["barrier", "--iterations", "2", "--samples", "1"]
        with Attack(lambda: os.symlink(self.precious, link)):
            for variable in "CHORALE_TRACE", "CHORALE_STATISTICS":
                status, output = self.run_victim(**{variable: str(link)})
                self.assertNotEqual(status, 0, output)
                self.assertIn("is a symbolic link of another user", output)
                self.assertIn(variable, output)
                self.check_precious()
            for option in "--json", "--csv":
                status, output = self.run_tool(BENCH, *quick, option, link)
                self.assertEqual(status, 1, output)
                self.assertIn("is a symbolic link of another user", output)
                self.check_precious()

    def test_folders_behind_links_of_others(self):
        with Attack(lambda: os.symlink(self.own, self.shared / "folder")):
            status, output = self.run_victim(CHORALE_STATISTICS=f"{self.shared}/folder/calls.csv")
            self.assertNotEqual(status, 0, output)
            self.assertIn("'folder' is a symbolic link of another user", output)
        self.check_precious()

    def test_links_in_folders_of_others(self):
        """Links in a folder that another user has made are refused; those in a folder that root has set up are followed."""
        def make():
            os.mkdir(self.shared / "run", 0o755)
            os.symlink(self.precious, self.shared / "run/calls.csv")
            os.symlink(self.own, site / "scratch")

        site = self.shared.parent / "site"
        site.mkdir()
        os.chown(site, OTHER, OTHER)
        with Attack(make):
            status, output = self.run_victim(CHORALE_STATISTICS=f"{self.shared}/run/calls.csv")
            self.assertNotEqual(status, 0, output)
            self.assertIn("is a symbolic link of another user", output)
            self.check_precious()
            status, output = self.run_victim(CHORALE_STATISTICS=f"{site}/scratch/calls.csv")
            self.assertEqual(status, 0, output)
            self.assertIn("barrier", (self.own / "calls.csv").read_text(encoding="utf-8"))

    def test_further_names_of_files(self):
        """If the kernel permits hard links to others' files (fs.protected_hardlinks), another user could have this file overwritten."""
        os.link(self.precious, self.shared / "result")
        for variable in "CHORALE_TRACE", "CHORALE_STATISTICS":
            status, output = self.run_victim(**{variable: str(self.shared / "result")})
            self.assertNotEqual(status, 0, output)
            self.assertIn("it has another name, too", output)
        self.check_precious()

    def test_links_of_ones_own_are_followed(self):
        os.symlink(self.own / "calls.csv", self.shared / "calls.csv")
        os.lchown(self.shared / "calls.csv", SELF, SELF)
        status, output = self.run_victim(CHORALE_STATISTICS=str(self.shared / "calls.csv"))
        self.assertEqual(status, 0, output)
        self.assertIn("barrier", (self.own / "calls.csv").read_text(encoding="utf-8"))

    def test_files_and_pipes_of_others(self):
        """Their owner could read what is written, or make the job wait."""
        def make():
            os.umask(0)
            os.mkfifo(self.shared / "pipe", 0o666)
            (self.shared / "file").touch(0o666)

        with Attack(make):
            for name in "pipe", "file":
                status, output = self.run_victim(CHORALE_STATISTICS=str(self.shared / name))
                self.assertNotEqual(status, 0, output)
                self.assertRegex(output, "cannot be written: it (is another user's file|cannot be opened|is no regular file)")
            status, output = self.run_tool(BENCH, "barrier", "--json", self.shared / "pipe")
            self.assertEqual(status, 1, output)


class Traces(Case):
    """The folder to which ranks write their traces, and the tool that merges them."""

    def parts(self):
        found = list(self.shared.glob("trace.json.*.parts"))
        self.assertEqual(len(found), 1, os.listdir(self.shared))
        return found[0]

    def test_the_folder_is_private(self):
        job = Job("once", CHORALE_TRACE=str(self.shared / "trace.json"))
        seen = self.parts().stat()
        self.assertEqual((seen.st_uid, stat.S_IMODE(seen.st_mode)), (SELF, 0o700))
        status, output = job.go_on()
        self.assertEqual(status, 0, output)
        status, output = self.run_tool(TRACE, self.shared / "trace.json")
        self.assertEqual(status, 0, output)
        self.assertGreater(len(json.loads((self.shared / "trace.json").read_text(encoding="utf-8"))), 4)
        self.assertEqual(os.listdir(self.shared), ["trace.json"])

    def replaced(self, mode):
        """The outcome of a job whose folder another user has replaced by one with links to the victim's file."""
        job = Job(mode, CHORALE_TRACE=str(self.shared / "trace.json"))
        parts = self.parts()
        links = os.listdir(parts)

        def replace():
            os.umask(0)
            os.rename(parts, f"{parts}.away")
            os.mkdir(parts, 0o777)
            for name in links:
                os.symlink(self.precious, parts / name)

        with Attack(replace):
            status, output = job.go_on()
        self.check_precious()
        return status, output, sorted(os.listdir(parts)) == sorted(links)

    def test_a_folder_of_another_user_at_the_end(self):
        status, output, untouched = self.replaced("once")
        self.assertEqual(status, 0, output)
        self.assertTrue(untouched)

    def test_a_folder_of_another_user_at_the_beginning(self):
        status, output, untouched = self.replaced("twice")
        self.assertNotEqual(status, 0, output)
        self.assertIn("error: ", output)
        self.assertIn("it is another user's folder", output)
        self.assertTrue(untouched)

    def test_locks_of_others_hold_nobody_up(self):
        job = Job("once", CHORALE_STATISTICS=str(self.shared / "calls.csv"))
        with Attack(lambda: locked(self.shared / "calls.csv", "rb")):
            status, output = job.go_on()
        self.assertEqual(status, 0, output)
        self.assertNotIn("cannot write", output)
        self.assertIn("barrier", (self.shared / "calls.csv").read_text(encoding="utf-8"))

    def test_names_of_locks_that_others_have(self):
        with Attack(lambda: locked(self.shared / f".calls.csv.{SELF}.lock", "wb")):
            status, output = self.run_victim(CHORALE_STATISTICS=str(self.shared / "calls.csv"))
        self.assertEqual(status, 0, output)
        self.assertEqual(len(re.findall("barrier", (self.shared / "calls.csv").read_text(encoding="utf-8"))), 2)

    def test_what_others_leave_for_chorale_trace(self):
        parts = self.shared / "trace.json.00000001.parts"

        def make():
            os.umask(0)
            os.mkdir(parts, 0o777)
            os.mkfifo(parts / "00000009.0.json", 0o666)

        with Attack(make):
            status, output = self.run_tool(TRACE, self.shared / "trace.json")
            self.assertEqual(status, 1, output)
            self.assertIn("it is another user's folder", output)
            status, output = self.run_tool(TRACE, self.shared / "trace.json", parts)
            self.assertEqual(status, 1, output)
            self.assertIn("is no regular file", output)

    def test_what_chorale_trace_does_not_write(self):
        """It writes through no link of another user, even in a parent folder, and replaces no file of another user."""
        own = self.own.parent / "parts"
        own.mkdir(0o700)
        (own / "9.0.json").write_text('[\n{"name":"chorale_job","args":{"job":"7","group":"9","number":1,"host":"one","home":0}}', encoding="utf-8")
        for entry in own, own / "9.0.json":
            os.chown(entry, SELF, SELF)

        def make():
            os.symlink(self.precious, self.shared / "link")
            os.symlink(self.own, self.shared / "folder")
            (self.shared / "file").touch(0o666)

        with Attack(make):
            for name, why in ("link", "symbolic link of another user"), ("folder/new", "symbolic link of another user"), ("file", "another user's file"):
                status, output = self.run_tool(TRACE, self.shared / name, own)
                self.assertEqual(status, 1, output)
                self.assertIn(why, output)
        self.check_precious()
        status, output = self.run_tool(TRACE, own / "new", own)
        self.assertEqual(status, 0, output)


class Memory(Case):
    """Memory that the processes of one user share."""

    def test_all_of_it_is_private_and_sealed(self):
        job = Job("once")
        found = {}
        for link in pathlib.Path("/proc").glob("[0-9]*/fd/*"):
            try:
                name = os.readlink(link)
                if name.startswith("/memfd:chorale") and link.stat().st_uid == SELF:
                    with open(link, "rb") as file:
                        found[name.split()[0]] = (stat.S_IMODE(os.fstat(file.fileno()).st_mode), fcntl.fcntl(file, fcntl.F_GET_SEALS) & SEALED)
            except OSError:
                continue
        status, output = job.go_on()
        self.assertEqual(status, 0, output)
        self.assertIn("/memfd:chorale-status", found)
        self.assertGreater(len(found), 1)
        self.assertEqual(set(found.values()), {(0o600, SEALED)}, found)


class Starting(Case):
    """What a process needs in order to open soft0."""

    def setUp(self):
        super().setUp()
        self.fabric = f"security-{os.getpid()}"
        spaces = "-".join(f"{os.stat(f'/proc/self/ns/{kind}').st_ino:x}" for kind in ("pid", "user"))
        self.prefix = f"chorale-soft/{SELF}/{self.fabric}/{spaces}"
        self.beside = pathlib.Path("/tmp") / f".chorale-soft-{SELF}-{fnv1a(self.prefix):016x}.lock"
        self.addCleanup(lambda: self.beside.unlink(missing_ok=True))

    def test_the_start_up_lock_is_not_for_others(self):
        """Another user has taken the names of the lock and of its file in /tmp: ranks use those of the launcher."""
        def take():
            name = socket.socket(socket.AF_UNIX)
            name.bind(f"\0{self.prefix}/lock")
            return name, locked(self.beside, "wb")

        with Attack(take):
            status, output = self.run_victim(CHORALE_SOFT_FABRIC=self.fabric)
        self.assertEqual(status, 0, output)

    def test_the_file_of_that_lock_does_not_stay(self):
        status, output = launch.run(as_user(SELF, ["env", f"CHORALE_SOFT_FABRIC={self.fabric}", VICTIM, "alone"]), LIMIT)
        self.assertEqual(status, 0, output)
        self.assertFalse(self.beside.exists())


if __name__ == "__main__":
    launch.required()
    if WHY := why_not_as(SELF, VICTIM):
        print("skipped: " + WHY)
        sys.exit(launch.SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
