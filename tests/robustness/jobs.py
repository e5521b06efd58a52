#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs on soft0 beside other jobs and users, in hostile surroundings, and with many ranks.

Usage: jobs.py RANKS UNDER_FILTER [CLASS...], the programs of ranks.cpp and under_filter.cpp. Skipped (77) if there is no
launcher. CHORALE_TEST_RANKS: ranks of the class Many (default 64; tools/soak many takes 256).
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / folder) for folder in ("multirank", "support")]
import launch  # noqa: E402
from privileged import NOBODY, as_user, in_mount_namespace, why_no_mount_namespace, why_not_as  # noqa: E402

LIMIT = 300


def numbers(output):
    """The line of rank 0 as a dictionary; None if there is none."""
    for line in output.splitlines():
        if line.startswith("ranks="):
            return dict(field.split("=") for field in line.split())
    return None


class Case(unittest.TestCase):
    """Runs jobs and checks the output of rank 0."""

    def environment(self, **more):
        """The environment of a job on soft0, with a deadline within the time limit."""
        return launch.on_soft0("OMPI_", "PMIX_", CHORALE_DEADLINE_MS="60000", TMPDIR="/tmp", **more)

    def job(self, ranks, *words):
        """The command of a job."""
        return [*launch.mpirun(), "-n", str(ranks), *(words or (RANKS, "calm"))]

    def run_job(self, command, **environment):
        """The numbers that rank 0 of a job prints; the job must succeed."""
        status, output = launch.run(command, LIMIT, self.environment(**environment))
        found = numbers(output)
        self.assertEqual(status, 0, output)
        self.assertIsNotNone(found, output)
        return found

    def run_together(self, *commands, **environment):
        """The same for jobs that run concurrently."""
        found = []
        with launch.Running(LIMIT) as jobs:
            for command in commands:
                jobs.begin(command, env=self.environment(**environment))
            for status, output in jobs.ends():
                self.assertEqual(status, 0, output)
                found.append(numbers(output))
                self.assertIsNotNone(found[-1], output)
        return found

    def need(self, why_not):
        """Skips the test if there is a reason."""
        if why_not:
            self.skipTest(why_not)

    def need_root(self):
        self.need(why_not_as(NOBODY, RANKS))

    def need_mount_namespaces(self):
        self.need(why_no_mount_namespace())


class Forks(Case):
    """Ranks whose children end in all possible ways."""

    def test_children_of_ranks(self):
        self.assertEqual(self.run_job(self.job(3, RANKS, "fork"))["ranks"], "3")

    def test_copies_forbidden_for_all(self):
        self.run_job(self.job(3, UNDER_FILTER, RANKS, "calm"))

    def test_copies_forbidden_for_one(self):
        words = [*launch.mpirun(), "-n", "1", UNDER_FILTER, RANKS, "calm", ":", "-n", "2", RANKS, "calm"]
        self.run_job(words)


class Edges(Case):
    """Ranks that do something unusual to their own process, or in unusual surroundings."""

    def run_edge(self, command, **environment):
        """The outcome of each rank of a job, by name. Ignores the launcher's exit status, since some ranks end early."""
        _, output = launch.run(command, LIMIT, self.environment(CHORALE_SILENCE_MS="60000", **environment))
        if "skipped: " in output:
            self.skipTest(output)
        said = dict(re.findall(r"^(rank \S+|further \S+|further|child|descriptors): (.*)$", output, re.MULTILINE))
        self.assertTrue(said, output)
        return said

    def edge(self, what, ranks=3, **environment):
        return self.run_edge(self.job(ranks, RANKS, "edge", what), **environment)

    def check_right(self, said, *ranks):
        for rank in ranks or ("rank 0", "rank 1", "rank 2"):
            self.assertEqual(said.get(rank), "right", said)

    def check_says(self, said, who, *words):
        for word in words:
            self.assertIn(word, said.get(who, ""), said)

    def test_all_is_right(self):
        for what in "children", "cancel", "precedence", "exec", "chroot", "setuid":
            with self.subTest(what=what):
                self.check_right(self.edge(what))

    def test_many_descriptors(self):
        said = self.edge("descriptors")
        self.check_right(said)
        most = int(said["descriptors"])
        if most < 100_000:
            print(f"only {most} descriptors: the hard limit of open files cannot be raised here", flush=True)

    def test_service_threads_with_precedence(self):
        self.check_right(self.edge("precedence", ranks=2, CHORALE_SERVICE="polling"), "rank 0", "rank 1")

    def test_no_folders(self):
        self.check_right(self.run_edge(self.job(3, "env", "-u", "HOME", "TMPDIR=/nonexistent", RANKS, "edge", "calm")))

    def test_full_tmp(self):
        # The launcher needs space, and the program may be somewhere in the folder that is hidden: both are reached by way of /mnt.
        fill = ("mount --rbind / /mnt && mount -t tmpfs -o size=64k tmpfs /tmp"
                " && (dd if=/dev/zero of=/tmp/full bs=4k 2>/dev/null || true)")
        program = f"/mnt{pathlib.Path(RANKS).resolve()}"
        words = ["env", "TMPDIR=/tmp", "PMIX_SERVER_TMPDIR=/tmp", program, "edge", "calm"]
        self.need(why_no_mount_namespace(fill))
        is_full = "! (echo > /tmp/more) 2>/dev/null"
        self.check_right(self.run_edge(in_mount_namespace(f"{fill} && {is_full}", ["env", "TMPDIR=/mnt/tmp", *self.job(3, *words)])))

    def test_a_further_program_of_a_rank(self):
        said = self.edge("further-after")
        self.check_says(said, "further", "is rank 0 of this job", "env -u PMIX_NAMESPACE")
        self.check_right(said)

    def test_a_further_program_that_was_first(self):
        said = self.edge("further-before")
        self.check_says(said, "rank ?", "which has ended, was rank 0 of this job")
        self.check_right(said, "further 0", "rank 1", "rank 2")

    def test_programs_one_after_the_other(self):
        twice = ["sh", "-c", f"'{RANKS}' edge calm && exec '{RANKS}' edge further"]
        said = self.run_edge(self.job(3, *twice))
        self.check_right(said)
        self.check_says(said, "further", "which has ended, was rank ")
        self.check_right(self.run_edge(self.job(1, *twice)), "rank 0", "further 0")

    def test_a_child_of_fork(self):
        said = self.edge("fork")
        self.check_says(said, "child", "is a child of fork() of rank 0")
        self.check_right(said)

    def test_a_child_of_clone(self):
        # Without a thread of the library, none can hold a lock of the C library that the child needs.
        self.check_right(self.edge("clone", CHORALE_SERVICE="off"))

    def test_a_thread_that_ends_in_a_call(self):
        status, output = launch.run([RANKS, "edge", "pthread_exit"], LIMIT, self.environment())
        self.assertIn(status, (-signal.SIGABRT, 128 + signal.SIGABRT), output)
        self.assertNotIn("rank 0:", output)

    def test_ranks_that_end(self):
        for what in "quick_exit", "exec-away":
            with self.subTest(what=what):
                said = self.edge(what)
                for rank in "rank 1", "rank 2":
                    self.check_says(said, rank, "rank 0", "peer lost")

    def test_no_proc_any_more(self):
        said = self.edge("chroot-early")
        for rank in "rank 0", "rank 1", "rank 2":
            self.check_says(said, rank, "/proc")
            self.assertNotIn("has ended", said[rank], said)

    def test_another_user_after_joining(self):
        said = self.edge("setuid-early")
        for rank in "rank 0", "rank 1", "rank 2":
            self.check_says(said, rank, "setuid")
            self.assertNotIn("has ended", said[rank], said)

    def test_closed_processes(self):
        self.need_root()
        said = self.run_edge(as_user(NOBODY, self.job(2, RANKS, "edge", "closed")))
        for rank in said:
            self.check_says(said, rank, "PR_GET_DUMPABLE", "PR_SET_DUMPABLE")
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            program = shutil.copy(RANKS, folder)
            os.chmod(program, 0o711)
            library = str(pathlib.Path(RANKS).resolve().parents[2] / "lib")
            words = ["env", f"LD_LIBRARY_PATH={library}"]
            # It suffices that one of the two ranks is protected.
            said = self.run_edge(as_user(NOBODY, [*self.job(1, *words, program, "edge", "calm"), ":", "-n", "1", *words, RANKS,
                                            "edge", "calm"]))
        for rank in said:
            self.check_says(said, rank, "rank 0 is protected from its own user", "file readable")

    def test_a_jump_out_of_a_call(self):
        said = self.edge("longjmp")
        self.check_says(said, "rank 0", "longjmp()", "wrong use")

    def test_a_jump_out_of_a_wait(self):
        said = self.edge("longjmp-wait")
        self.check_says(said, "rank 0", "longjmp()", "wrong use")
        for rank in "rank 1", "rank 2":
            self.check_says(said, rank, "rank 0 destroyed its communicator", "longjmp()")

    def test_a_long_host_name(self):
        name = "h" * 64
        if subprocess.run(["unshare", "--uts", "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("unshare --uts is not permitted here")
        command = ["unshare", "--uts", "sh", "-c", 'hostname "$1" && shift && exec "$@"', "sh", name, RANKS, "edge", "calm"]
        _, output = launch.run(command, LIMIT, self.environment() | {"CHORALE_DEVICE": "nosuch7"})
        self.assertIn(f"on host {name} ", output)


class Lifetimes(Case):
    """Calls at the beginning and the end of processes."""

    def run_mode(self, ranks, *words):
        """Runs a job in a mode that must succeed on all ranks; standard streams may be closed."""
        status, output = launch.run(self.job(ranks, *words), LIMIT, self.environment())
        self.assertEqual(status, 0, output)
        return output

    def test_children_that_end_their_copies(self):
        self.run_mode(3, RANKS, "ended-copies", "1")

    def test_globals_that_end_late(self):
        for mode in "global-split", "global-first", "global-second":
            with self.subTest(mode=mode):
                self.run_mode(2, RANKS, mode)

    def test_closed_standard_streams(self):
        for closed in "<&-", ">&-", "2>&-", "<&- >&- 2>&-":
            with self.subTest(closed=closed):
                self.run_mode(2, "sh", "-c", f'exec "$0" streams {closed}', RANKS)

    def test_blocked_signals(self):
        self.run_mode(2, RANKS, "signals")


class Neighbours(Case):
    """Jobs that must not see each other."""

    def test_two_jobs_of_one_user(self):
        one, two = self.run_together(self.job(3), self.job(3))
        self.assertNotEqual(one["fabric"], two["fabric"])

    def test_two_users_and_one_name(self):
        self.need_root()
        name = f"jobs-{os.getpid()}"
        one, two = self.run_together(self.job(3), as_user(NOBODY, self.job(3)), CHORALE_SOFT_FABRIC=name)
        self.assertNotEqual(one["fabric"], two["fabric"])
        self.assertEqual([one["uid"], two["uid"]], ["0", str(NOBODY)])

    def test_an_ordinary_user(self):
        self.need_root()
        for copy in "auto", "vm", "bounce":
            with self.subTest(copy=copy):
                self.assertEqual(self.run_job(as_user(NOBODY, self.job(3)), CHORALE_SOFT_COPY=copy)["uid"], str(NOBODY))

    def test_nothing_is_left(self):
        name = f"jobs-{os.getpid()}-left"
        self.run_job(self.job(2), CHORALE_SOFT_FABRIC=name)
        sockets = pathlib.Path("/proc/net/unix").read_text(encoding="utf-8")
        self.assertNotIn(name, sockets)
        self.assertEqual([entry for entry in os.listdir("/dev/shm") if "chorale" in entry], [])


class Containers(Case):
    """Containers that share some of their namespaces."""

    def start_many(self, *unshare):
        """Starts programs simultaneously, each in its own container: their processes have the same PIDs."""
        tried = subprocess.run(["unshare", *unshare, "true"], capture_output=True, text=True, check=False)
        if tried.returncode != 0:
            self.skipTest(f"unshare {' '.join(unshare)} is not permitted here: {tried.stderr.strip()}")
        name = f"jobs-{os.getpid()}-containers"
        jobs = [subprocess.Popen(["unshare", *unshare, RANKS, "calm"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, env=self.environment(CHORALE_SOFT_FABRIC=name))
                for _ in range(24)]
        for job in jobs:
            output, _ = job.communicate(timeout=LIMIT)
            self.assertEqual(job.returncode, 0, output)

    def test_one_network(self):
        self.start_many("--pid", "--fork", "--mount-proc")

    def test_one_network_and_proc(self):
        self.start_many("--pid", "--fork")


class Surroundings(Case):
    """Containers and similar environments."""

    def test_small_and_full_dev_shm(self):
        self.need_mount_namespaces()
        mount = "mount -t tmpfs -o size=64k tmpfs /dev/shm"
        fill = mount + " && (dd if=/dev/zero of=/dev/shm/full bs=4k 2>/dev/null || true)"
        for script in mount, fill:
            with self.subTest(script=script):
                self.run_job(in_mount_namespace(script, self.job(3)))

    def test_no_dev_shm(self):
        self.need_mount_namespaces()
        self.run_job(in_mount_namespace("umount -l /dev/shm && mount -t tmpfs -o ro tmpfs /dev/shm", self.job(3)))

    def test_proc_that_hides_other_users(self):
        self.need_root()
        self.need_mount_namespaces()
        hide = "mount -t proc -o hidepid=2 proc /proc"
        self.assertEqual(self.run_job(in_mount_namespace(hide, as_user(NOBODY, self.job(3))))["uid"], str(NOBODY))

    def test_no_proc(self):
        self.need_mount_namespaces()
        command = in_mount_namespace("mount -t tmpfs tmpfs /proc", [RANKS, "calm"])
        # Without /proc the loader cannot locate the library relative to the program.
        library = str(pathlib.Path(RANKS).resolve().parents[2] / "lib")
        status, output = launch.run(command, LIMIT, self.environment(LD_LIBRARY_PATH=library))
        self.assertEqual(status, 1, output)
        self.assertIn("mount -t proc", output)


class Many(Case):
    """More ranks than any machine has cores."""

    def test_many(self):
        ranks = int(os.environ.get("CHORALE_TEST_RANKS", "64"))
        for mode in os.environ.get("CHORALE_TEST_MODE", "calm").split(","):
            found = self.run_job(self.job(ranks, RANKS, mode))
            print(f"{mode}: {found}", flush=True)
            self.assertEqual(found["ranks"], str(ranks))
            # Each peer costs two descriptors, and a third once it has been woken up; an ordinary limit of open files is 1,024.
            self.assertLess(int(found["descriptors"]), min(1000, 3 * ranks + 150), "for too many, or more than an ordinary limit")


if __name__ == "__main__":
    launch.required()
    RANKS = sys.argv.pop(1)
    UNDER_FILTER = sys.argv.pop(1)
    unittest.main(verbosity=2)
