#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/check and tools/soak with programs that only pretend to build and test, the mistakes of tools/tune, and `tools/measure choice` with
nothing to compare."""
import os
import pathlib
import shutil
import subprocess
import sys
import unittest
from unittest import mock

TOOLS = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(TOOLS), str(TOOLS / "tests")]

import fakes  # noqa: E402
import running  # noqa: E402
from measuring import choice  # noqa: E402

# Knows the test `sim`, as Meson does: only --list reports that there is no test of a name.
MESON = """#!/bin/sh
echo "$*" >> "$CALLS"
case "$*" in
  *--list) echo 'chorale:tools / sim' ;;
  *--list\\ sim) ;;
  *--list*) echo 'No suitable tests defined.'; exit 1 ;;
  *--logbase*) echo '{"name": "sim", "result": "OK"}' > build/meson-logs/soak.json; echo 'Ok: 1' ;;
esac
"""
# One rank of windows fails in another way, if there is a BUG.
LAUNCH = """#!/bin/sh
echo 'windows: rank 0 of 2 cannot make its communicator: no datagrams: not supported'
[ -z "$BUG" ] || echo "windows: $BUG"
exit 1
"""


class Scripts(fakes.Faked):
    """Copies of the scripts in a tree of their own."""

    def setUp(self):
        super().setUp()
        for name in ("tools/check", "tools/soak", "tools/steps.bash", "tests/support/failed_tests.py"):
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TOOLS.parent / name, self.folder / name)
        for name, text in (("meson", MESON), ("ninja", "#!/bin/sh\n"), ("clang++", "#!/bin/sh\n")):
            self.write(f"bin/{name}", text)
        (self.folder / "build/meson-logs").mkdir(parents=True)
        (self.folder / "build/build.ninja").touch()

    def run_it(self, name, *words, **variables):
        """Runs a script."""
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        return subprocess.run([self.folder / "tools" / name, *words], env={**os.environ, "PATH": path, "CALLS": str(self.folder / "calls"), **variables},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)

    def test_check_knows_its_tests(self):
        done = self.run_it("check", "--no-dependencies", "sim", "smi")
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("no test of build-check is called 'smi'; there are:\nchorale:tools / sim\n", done.stderr)
        done = self.run_it("check", "--no-dependencies", "sim")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_soak_goes_on_until_the_time_is_over(self):
        done = self.run_it("soak", "--seconds", "2", "--repeat", "1", "--test", "sim", "tests")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("\nround 2: ", done.stdout)
        done = self.run_it("soak", "--repeat", "2", "--test", "sim", "tests")
        self.assertEqual(done.stdout.count("\nround "), 2, done.stdout + done.stderr)

    def test_soak_tells_refusals_from_failures(self):
        """A run is refused only if no rank says anything else."""
        self.write("tests/multirank/launch.py", LAUNCH)
        self.write("lib/verbs/profiles/mana.profile", "")
        done = self.run_it("soak", "--seeds", "1", "profiles")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("mana: 0 passed; windows: rank 0 of 2 cannot make", done.stdout)
        done = self.run_it("soak", "--seeds", "1", "profiles", BUG="rank 1 of 2: a rank has died")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("FAILED: profile mana, 2 ranks, windows, seed 1", done.stdout)

    def test_a_choice_of_nothing(self):
        with mock.patch.object(choice, "rows_of", lambda *_: {}):
            status, _, errors = running.called(running.script(TOOLS / "measure"), "choice")
        self.assertEqual(status, 2)
        self.assertIn("no row has a choice to compare", errors)

    def test_tune(self):
        """Mistakes are found before the first measurement, and the ranks of each are placed as in other measurements."""
        tune = running.script(TOOLS / "tune")
        self.write("build/tools/chorale-bench", "#!/bin/sh\n")
        self.write("bin/mpirun.openmpi", f"#!/bin/sh\necho 'mpirun (Open MPI) 4.1.4'; echo \"$SLURM_JOB_ID $*\" >> {self.folder / 'calls'}\n")
        for words, said in ((["--no-run"], "--no-run leaves nothing to do without --built-in"), (["--ranks", "2,x"], "--ranks: takes whole numbers from 1 on")):
            status, _, errors = running.called(tune, *words, "t.json")
            self.assertEqual(status, 2)
            self.assertIn(said, errors)
        path = str(self.folder / "bin")
        cores = len(os.sched_getaffinity(0))
        status, _, _ = running.called(tune, "--build", self.folder / "build", "--ranks", f"1,{cores + 1}", "t.json", PATH=path, SLURM_JOB_ID="7")
        self.assertFalse(status)
        calls = [line for line in self.lines("calls") if "--table" in line]
        self.assertIn("7 -n 1 --bind-to core ", calls[0])
        self.assertIn("--oversubscribe --bind-to none --mca mpi_yield_when_idle 1", calls[1])
        self.assertEqual(running.called(tune, "--build", self.folder, "t.json", PATH=path)[0],
                         f"tools/tune: {self.folder}/tools/chorale-bench is not built: --build names the folder of a build with -Dtools=true, "
                         f"and 'ninja -C {self.folder} tools/chorale-bench' makes it")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
