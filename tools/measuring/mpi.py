# SPDX-License-Identifier: Apache-2.0
"""Any MPI library: its location, the options of its launcher, and the build of the peers' program with it."""
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess

from measuring import process, trees

BUILD_LIMIT = 300  # seconds
NAMES = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
OPEN_MPI, HYDRA, OTHER = "Open MPI", "Hydra", "other"


@dataclasses.dataclass(frozen=True)
class Mpi:
    """A library as named by the user."""
    name: str
    compiler: str
    launcher: str
    options: tuple = ()
    prefix: str = None  # None: the system's, which needs no search paths
    built: str = None  # the program that this tree's build makes for it

    def environment(self):
        """The environment of its compiler, its launcher and its programs."""
        return process.environment(self.prefix)


def parse(text):
    """The library of NAME=PREFIX[:OPTIONS]. @throws ValueError with the remedy"""
    name, equals, rest = text.partition("=")
    prefix, _, options = rest.partition(":")
    if not equals or not prefix or not NAMES.fullmatch(name):
        raise ValueError(f"--mpi takes NAME=PREFIX or NAME=PREFIX:OPTIONS, with letters, digits and any of ._+- in NAME; not {text!r}")
    folder = pathlib.Path(prefix).expanduser().resolve() / "bin"
    compiler = folder / "mpicc"
    launcher = next((path for path in (folder / "mpirun", folder / "mpiexec") if os.access(path, os.X_OK)), None)
    if not os.access(compiler, os.X_OK) or launcher is None:
        raise ValueError(f"--mpi {name}: {folder} needs mpicc, and mpirun or mpiexec; PREFIX is where the library is installed")
    return Mpi(name, str(compiler), str(launcher), tuple(shlex.split(options)), None if prefix == "/usr" else str(folder.parent))


# Without an adapter, Open MPI uses its own shared memory by default; over UCX it performs like another library.
DEBIAN = {"openmpi": (), "mpich": (),
          "openmpi-ucx": ("--mca", "pml", "ucx", "--mca", "pml_ucx_tls", "any", "--mca", "pml_ucx_devices", "any")}


def debian(name):
    """The library of a Debian package, with the options of DEBIAN; the names of its programs end in the package's. None if its launcher is missing."""
    package = name.partition("-")[0]
    launcher = shutil.which(f"mpirun.{package}")
    return Mpi(name, f"mpicc.{package}", launcher, DEBIAN[name], built=f"mpi-peers-{package}") if launcher else None


def kind(library):
    """(the kind of its launcher, its major version)."""
    try:
        said = process.run([library.launcher, "--version"], library.environment(), 20)
    except process.Refused:
        return OTHER, 0
    version = re.search(r"(\d+)\.\d+", said)
    number = int(version.group(1)) if version else 0
    if any(word in said for word in ("Open MPI", "OpenRTE", "PRRTE", "prterun")):
        return OPEN_MPI, number
    return (HYDRA if "HYDRA" in said and "Intel" not in said else OTHER), number


def words(library, family, ranks, crowded):
    """The launcher's command. The user's own options for binding or mapping replace the default ones.

    Ranks that outnumber cores (`crowded`) are not bound; those of Open MPI yield while they wait.
    """
    own = any("bind-to" in option or "map-by" in option for option in library.options)
    which, number = family
    said = []
    if which == OPEN_MPI and crowded:
        more = ["--oversubscribe"] if number < 5 else ["--map-by", ":OVERSUBSCRIBE"]
        said = ([] if own else [*more, "--bind-to", "none"]) + ["--mca", "mpi_yield_when_idle", "1"]
    elif which == OPEN_MPI and not own:
        said = ["--bind-to", "core"]
    elif which == HYDRA and not crowded and not own:
        said = ["-bind-to", "core"]
    return [library.launcher, "-n", str(ranks), *said, *library.options]


def program(library, build, folder):
    """The peers' program with this library; builds it if necessary. @throws Refused with the compiler's output"""
    build = pathlib.Path(build).resolve()
    built = build / "tools" / (library.built or f"mpi-peers-{library.name}")
    if library.built and built.is_file():
        return str(built)
    compiler = shutil.which(library.compiler)
    if compiler is None:
        raise process.Refused(f"neither {built} nor {library.compiler} is there to build it")
    parts = [build / "tools" / name for name in ("libbench-loop.a", "libpeers-core.a")]
    for part in parts:
        if not part.is_file():
            raise process.Refused(f"{part} is not built")
    source = source_of(build)
    main = source / "tools" / "peers" / "mpi_peers.cpp"
    target = pathlib.Path(folder or build / "tools") / f"mpi-peers-{digest(compiler, main, *parts)}"
    if not target.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        new = target.with_name(f"{target.name}.{os.getpid()}")
        # The library's compiler is for C, but the wrappers accept other languages.
        command = [compiler, "-x", "c++", "-std=c++20", "-O3", "-DNDEBUG", f"-I{source / 'include'}", f"-I{build / 'include'}",
                   str(main), "-x", "none", *map(str, parts), *libraries("fmt"), "-lstdc++", "-lm", "-o", str(new)]
        try:
            process.run(command, library.environment(), BUILD_LIMIT)
            new.replace(target)
        except process.Refused as e:
            raise process.Refused(f"its program could not be built: {compiler} {e}") from e
        except OSError as e:
            raise process.Refused(f"its program could not be built: {compiler} wrote no program: {e}") from e
        finally:
            new.unlink(missing_ok=True)
    return str(target)


def source_of(build):
    """The source tree of a build folder: the program must match the loop that was built."""
    try:
        told = json.loads((build / "meson-info" / "meson-info.json").read_text(encoding="utf-8"))
        return pathlib.Path(told["directories"]["source"])
    except (OSError, ValueError, KeyError):
        return trees.ROOT


def digest(compiler, *files):
    """A name derived from the files that a program is built from."""
    told = hashlib.sha256()
    for file in (pathlib.Path(compiler), *files):
        told.update(f"{file.absolute()} {file.stat().st_mtime_ns} {file.stat().st_size}\n".encode())
    return told.hexdigest()[:12]


def libraries(package):
    """The linker options of a package."""
    try:
        done = subprocess.run(["pkg-config", "--libs", package], capture_output=True, text=True, check=True)
        return done.stdout.split()
    except (OSError, subprocess.CalledProcessError):
        return [f"-l{package}"]
