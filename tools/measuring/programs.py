# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of a build, with Open MPI's launcher or without a launcher."""
import dataclasses
import json
import os
import pathlib
import tempfile

from measuring import mpi, process

TIME_LIMIT = 300  # seconds


def program(build, name):
    """The path of a program of a build. @throws Refused with the remedy"""
    path = pathlib.Path(build).resolve() / "tools" / name
    if not path.is_file():
        raise process.Refused(f"{path} is not built: --build names the folder of a build with -Dtools=true, and 'ninja -C {build} tools/{name}' makes it")
    return str(path)


def launched(ranks, *options):
    """The command prefix that starts `ranks` ranks. Without `options`, each is bound to a core if there are enough. @throws Refused"""
    library = mpi.debian("openmpi")
    if library is None:
        raise process.Refused("there is no mpirun.openmpi: tools/install-dependencies installs it")
    return mpi.words(dataclasses.replace(library, options=options), mpi.kind(library), ranks, ranks > len(os.sched_getaffinity(0)))


def rows(*command, limit=TIME_LIMIT, variables=None):
    """The rows of the result that one of our programs writes with --json, by default on soft0. @throws Refused"""
    with tempfile.TemporaryDirectory(prefix="measure-") as folder:
        file = pathlib.Path(folder) / "result.json"
        run(*command, "--json", str(file), limit=limit, variables=variables)
        return json.loads(file.read_text(encoding="utf-8"))["rows"]


def run(*command, limit=TIME_LIMIT, variables=None):
    """Runs a program, with additional variables. @returns the beginning of its output. @throws Refused"""
    return process.run_named(command, {"CHORALE_DEVICE": "soft0", **process.environment(), **(variables or {})}, limit)
