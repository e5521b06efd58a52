#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs programs that use MPI and Chorale with each MPI's own compiler flags and launcher. Usage: beside_mpi_test.py BUILD openmpi|mpich

Skipped (77), with the reason, without that MPI and its headers.
"""
import argparse
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE.parent / "multirank")]
import launch  # noqa: E402
from project_compiler import compile_command  # noqa: E402

# The pkg-config package, and the Debian packages.
MPIS = {"openmpi": ("ompi-cxx", "openmpi-bin libopenmpi-dev"), "mpich": ("mpich", "mpich libmpich-dev")}
# The cases of each program, and the numbers of ranks.
TRIED = [("uninitialized", 1), ("turns", 1), ("turns", 2), ("turns", 5), ("refusals", 1), ("refusals", 3), ("late", 3), ("outlives", 4),
        ("message", 2), ("message", 4), ("message alone", 2), ("passive", 2), ("passive", 4), ("passive alone", 2)]
RUNS = {"beside_mpi": TRIED, "heat": [("heat", ranks) for ranks in range(1, 8)]}
SKIPPED = 77
SECONDS = 120


def launcher(name):
    """The command line prefix that starts ranks, or None."""
    if name == "openmpi":
        return launch.mpirun()
    return ["mpiexec.hydra"] if shutil.which("mpiexec.hydra") else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("mpi", choices=MPIS)
    options = parser.parse_args()
    package, packages = MPIS[options.mpi]
    start = launcher(options.mpi)
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", package], capture_output=True, text=True, check=False)
    if start is None or flags.returncode != 0:
        print(f"skipped: {options.mpi} is not here ({packages}; tools/install-dependencies --ci)")
        sys.exit(SKIPPED)
    command, folder = compile_command(options.build)
    # Warnings in MPI's headers are ignored.
    words = [word.replace("-I", "-isystem", 1) if word.startswith("-I") else word for word in shlex.split(flags.stdout)]
    library = (options.build / "lib").resolve()
    with tempfile.TemporaryDirectory(prefix="chorale-mpi-") as work:
        # Single copies by the kernel need no progress of the peer. Without them, Open MPI behaves within a host as it does between
        # hosts.
        environment = dict(os.environ, CHORALE_DEVICE="soft0", CHORALE_SOFT_FABRIC=f"beside-mpi-{os.getpid()}",
                           OMPI_MCA_btl_vader_single_copy_mechanism="none", OMPI_MCA_osc="pt2pt")
        failed = 0
        for name, runs in RUNS.items():
            program = os.path.join(work, name)
            subprocess.run([*command, "-O0", str(HERE / f"{name}.cpp"), "-o", program, *words, f"-L{library}", "-lchorale", "-lfmt", f"-Wl,-rpath,{library}"],
                           cwd=folder, check=True)
            for what, ranks in runs:
                status, output = launch.run([*start, "-n", str(ranks), program, what], SECONDS, environment)
                is_right = (status == 0) != (what == "late") and output.count("all right: " + what) == 1
                print(f"{'ok' if is_right else 'FAIL'}: {what} on {ranks} ranks" + ("" if is_right else f", status {status}:\n{output}"), flush=True)
                for line in output.splitlines():
                    if line.startswith("without while_waiting"):
                        print(line)
                failed += not is_right
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
