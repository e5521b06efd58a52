#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a program on N ranks under Open MPI's mpirun. Usage: launch.py [--timeout SECONDS] [--hosts LIST [--by-node]] N PROGRAM [ARGUMENT...]

Exit status: the program's; 77 (skipped), with the reason, if there is no mpirun; 124 on timeout, after all started processes have ended.
--hosts: starts ranks on these hosts, such as node1:4,node2:4, and passes the settings of this process on; --by-node: assigns ranks to the
hosts in turn.
"""
import argparse
import os
import shutil
import signal
import subprocess
import sys


SKIPPED = 77


def mpirun():
    """The command prefix of mpirun, or None."""
    for name in ("mpirun.openmpi", "mpirun"):
        found = shutil.which(name)
        if not found:
            continue
        version = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
        if "Open MPI" in version or "OpenRTE" in version:
            return [found, "--allow-run-as-root", "--oversubscribe"]
    return None


def required():
    """The same; without it, the program ends as skipped."""
    found = mpirun()
    if found is None:
        print("skipped: there is no Open MPI mpirun, the launcher of these tests (tools/install-dependencies)")
        sys.exit(SKIPPED)
    return found


def on_soft0(*foreign, **variables):
    """The environment with these variables, without other settings of Chorale and variables whose names begin with a word of `foreign`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CHORALE_", *foreign))}
    return {**kept, "CHORALE_DEVICE": "soft0", **variables}


def on_hosts(hosts, by_node=False):
    """mpirun's options to start ranks on these hosts, with slots as in `node1:4,node2:4`, and to pass settings on."""
    names = [word for name in os.environ if name.startswith("CHORALE_") for word in ("-x", name)]
    return ["--host", hosts, *(["--map-by", "node"] if by_node else []), *names]


def run(command, timeout, env=None, cwd=None):
    """(exit status, output) of a command that starts ranks, after all its processes have ended. Status 124: timeout."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", env=env, cwd=cwd, start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=timeout)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            # On SIGTERM mpirun ends its ranks, which are not in its process group.
            os.killpg(process.pid, signal.SIGTERM)
            try:
                output, _ = process.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                output, _ = process.communicate()
            return 124, output


class Running:
    """Processes that a test has started and that end with it. `ranks`: these processes, in the order in which they were started."""

    def __init__(self, limit):
        self.ranks, self.limit = [], limit

    def begin(self, command, **options):
        """Starts a process, whose output is read as text."""
        self.ranks.append(subprocess.Popen(command, **{"stdin": subprocess.DEVNULL, **options}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                           text=True, errors="replace"))
        return self.ranks[-1]

    def ends(self, first=None):
        """(exit status, output) of each, or of the first `first`. Raises subprocess.TimeoutExpired where one takes longer than the limit, in seconds."""
        return [(one.communicate(timeout=self.limit)[0], one.returncode)[::-1] for one in self.ranks[:first]]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for one in self.ranks:
            one.kill()
            one.communicate()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--timeout", type=float, default=330)
    parser.add_argument("--hosts")
    parser.add_argument("--by-node", action="store_true")
    parser.add_argument("ranks", type=int)
    parser.add_argument("program", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    launcher = required()
    where = on_hosts(options.hosts, options.by_node) if options.hosts else []
    status, output = run([*launcher, *where, "-n", str(options.ranks), *options.program], options.timeout)
    print(output, end="")
    if status == 124:
        print(f"not over after {options.timeout} s: {options.program}")
    sys.exit(status)


if __name__ == "__main__":
    main()
