# SPDX-License-Identifier: Apache-2.0
"""The contestants: a program, its launcher, and the evaluation of its runs."""
import dataclasses
import os
import pathlib
import tempfile

from measuring import mpi, process, programs
from measuring.comparison import result

CHORALE = "chorale"
# Spinning ranks that share cores need many milliseconds per call, so only a few calls are made.
FEW = ("--iterations", "5", "--samples", "5", "--warmup", "0")


@dataclasses.dataclass(frozen=True)
class Contestant:
    """A program under the launcher of a library."""
    name: str
    program: str
    library: mpi.Mpi
    family: tuple  # the kind and version of the launcher
    options: tuple = ()  # of the program

    def command(self, ranks, crowded):
        """The command, without the operations and sizes to measure."""
        few = FEW if crowded and self.name != CHORALE and self.family[0] != mpi.OPEN_MPI else ()
        floor = ("--floor",) if self.name == CHORALE and ranks > 1 else ()
        return [*mpi.words(self.library, self.family, ranks, crowded), self.program, *self.options, *floor, *few]

    def run(self, points, chosen):
        """Performs one run of points of equal size. @returns as result.read. @throws process.Refused"""
        ranks, crowded = points[0].ranks, points[0].ranks > cores()
        size = max([point.bytes for point in points]) or 4
        with tempfile.TemporaryDirectory(prefix="measure-") as folder:
            file = pathlib.Path(folder) / "result.json"
            command = [*self.command(ranks, crowded), *(point.operation for point in points), "--min-bytes", str(size),
                       "--max-bytes", str(size), "--budget", str(chosen.budget), "--json", str(file)]
            process.run(command, self.library.environment(), chosen.time_limit)
            return result.read(file, points, measure(ranks), chosen.time_limit)


def cores():
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def measure(ranks):
    """The column of the result that is compared.

    If ranks share cores, a rank that waits in the barrier before a call with a root may find its message already there when it
    gets a core, so that the call alone would seem to cost nothing.
    """
    return "wall" if ranks > cores() else "median"


def gather(chosen):
    """([contestants that can run here, Chorale first], [remarks on the others]).

    @throws process.Refused if Chorale cannot run.
    """
    libraries = [library for library in map(mpi.debian, mpi.DEBIAN) if library] + list(chosen.mpi)
    families = {library.name: mpi.kind(library) for library in libraries}
    found, missing = [of_chorale(chosen, libraries, families)], []
    there = {library.name for library in libraries}
    missing += [f"{name}: there is no mpirun.{name.partition('-')[0]}" for name in mpi.DEBIAN if name not in there and name not in chosen.without]
    for library in libraries:
        if library.name in chosen.without or chosen.choice:
            continue
        try:
            program = mpi.program(library, chosen.build, chosen.programs)
            found.append(Contestant(library.name, program, library, families[library.name]))
        except process.Refused as e:
            missing.append(f"{library.name}: {e}")
    return found, [] if chosen.choice else missing


def of_chorale(chosen, libraries, families):
    """Chorale, which needs a launcher with PMIx: Debian's Open MPI, or the first Open MPI that the user names."""
    program = programs.program(chosen.build, "chorale-bench")
    launcher = next((library for library in libraries if families[library.name][0] == mpi.OPEN_MPI), None)
    if launcher is None:
        raise process.Refused("Chorale needs a launcher with PMIx: there is no mpirun.openmpi, and no Open MPI among --mpi")
    # The user's options for the library's own runs do not apply to Chorale.
    return Contestant(CHORALE, program, dataclasses.replace(launcher, options=()), families[launcher.name],
                      ("--algorithms",) if chosen.choice else ())
