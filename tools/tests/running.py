# SPDX-License-Identifier: Apache-2.0
"""Common parts of the tests of programs: runs on soft0, scripts called in this process, and a temporary folder."""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
from unittest import mock

QUICK = ["--iterations", "10", "--samples", "2", "--warmup", "5"]


def run(*words, cwd=None, **variables):
    """Runs a program with these Chorale variables only."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CHORALE_")}
    environment |= {"CHORALE_DEVICE": "soft0", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **variables}
    return subprocess.run([*map(str, words)], env=environment, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=400,
                          check=False)


def script(path):
    """A script as a module."""
    loader = importlib.machinery.SourceFileLoader(path.name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(path.name, loader))
    loader.exec_module(module)
    return module


def called(module, *words, **variables):
    """(exit status, output, errors) of a script's main(), called in this process, which saves starting Python."""
    out, errors = io.StringIO(), io.StringIO()
    with mock.patch.dict(os.environ, variables), mock.patch("sys.argv", [module.__name__, *map(str, words)]), \
            contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            status = module.main()
        except SystemExit as e:
            status = e.code
    return status, out.getvalue(), errors.getvalue()


class InFolder(unittest.TestCase):
    """Tests with a temporary folder each."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def result(self, *words, file="result.json", **variables):
        """(JSON, table) of a benchmark that must succeed."""
        file = self.folder / file
        done = run(*words, "--json", file, **variables)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotIn("WRONG", done.stdout)
        return json.loads(file.read_text(encoding="utf-8")), done.stdout

    def launched(self, mpirun, ranks):
        """The command prefix that starts the ranks; skips the test if there is none."""
        if ranks != 1 and mpirun == "none":
            self.skipTest("mpirun.openmpi is not there, or this build has no PMIx")
        return [] if ranks == 1 else [mpirun, "--oversubscribe", "-n", str(ranks)]
