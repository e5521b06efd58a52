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


def on_hosts(hosts, by_node=False):
    """mpirun's options to start ranks on these hosts, with slots as in `node1:4,node2:4`, and to pass settings on."""
    names = [word for name in os.environ if name.startswith("CHORALE_") for word in ("-x", name)]
    return ["--host", hosts, *(["--map-by", "node"] if by_node else []), *names]


def run(command, timeout, env=None):
    """(exit status, output) of a launcher's command, after all its processes have ended. Status 124: timeout."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", env=env, start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=timeout)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            # On SIGTERM mpirun ends its ranks, which are not in its process group.
            process.send_signal(signal.SIGTERM)
            try:
                output, _ = process.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                output, _ = process.communicate()
            return 124, output


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--timeout", type=float, default=330)
    parser.add_argument("--hosts")
    parser.add_argument("--by-node", action="store_true")
    parser.add_argument("ranks", type=int)
    parser.add_argument("program", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    launcher = mpirun()
    if launcher is None:
        print("skipped: there is no Open MPI mpirun, the launcher of these tests (tools/install-dependencies)")
        sys.exit(77)
    where = on_hosts(options.hosts, options.by_node) if options.hosts else []
    status, output = run([*launcher, *where, "-n", str(options.ranks), *options.program], options.timeout)
    print(output, end="")
    if status == 124:
        print(f"not over after {options.timeout} s: {options.program}")
    sys.exit(status)


if __name__ == "__main__":
    main()
