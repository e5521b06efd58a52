# SPDX-License-Identifier: Apache-2.0
"""Runs programs under callgrind, which dump their counts through counted/counting.hpp."""
import os
import pathlib
import re
import tempfile

from measuring import process

TIME_LIMIT = 3600  # seconds


def dumps(*command, options=(), before=()):
    """{words that name a count: its dump} of a program. `before`: words before valgrind's command. @throws Refused"""
    with tempfile.TemporaryDirectory(prefix="measure-") as folder:
        words = [*before, "valgrind", "--tool=callgrind", "--fair-sched=yes", *options, f"--callgrind-out-file={folder}/out", *command]
        process.run_named(words, {**process.environment(), "CHORALE_SOFT_FABRIC": f"count{os.getpid()}"}, TIME_LIMIT)
        found = {}
        for path in pathlib.Path(folder).iterdir():
            text = path.read_text(encoding="utf-8", errors="replace")
            what = re.search(r"^desc: Trigger: Client Request: (.+)$", text, re.M)
            if what:
                found[tuple(what[1].split())] = text
    if not found:
        raise process.Refused(f"{' '.join(map(str, command))} has left no counts")
    return found
