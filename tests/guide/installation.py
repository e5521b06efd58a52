# SPDX-License-Identifier: Apache-2.0
"""A folder that looks like an installed Chorale, and the environment of a user who has it: made quickly, of links.

The tests of `tests/install` perform real installations. Here the pages of the guide find headers, library, tools, pkg-config and CMake
packages at a prefix, while other tests are still being built.
"""
import json
import os
import pathlib
import shlex
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE.parent / "multirank")]
import launch  # noqa: E402
from project_compiler import compile_command  # noqa: E402

# Files that contain their own location are copied; all others are linked.
COPIED = {".pc", ".cmake"}


def link_installation(build, prefix, folder):
    """Puts below `folder` what `meson install` would put below `prefix`, without files that have not been built."""
    with open(build / "meson-info" / "intro-installed.json", encoding="utf-8") as file:
        installed = json.load(file)
    for source, destination in installed.items():
        there = folder / os.path.relpath(destination, prefix)
        there.parent.mkdir(parents=True, exist_ok=True)
        if there.suffix in COPIED:
            text = pathlib.Path(source).read_text(encoding="utf-8")
            there.write_text(text.replace(f"prefix={prefix}\n", f"prefix={folder}\n"), encoding="utf-8")
        # The source of a library's shorter name is that name itself.
        elif os.path.exists(file_of(installed, source)):
            there.symlink_to(file_of(installed, source))
    return folder


def file_of(installed, source):
    """The source file of an installed file; for a shorter name of a library, the library."""
    if os.path.isabs(source):
        return source
    return next(file for file in installed if os.path.isabs(file) and os.path.basename(file).startswith(source + "."))


def program_of(name):
    """The path of a compiler. Links to a compiler cache are skipped: the cache would search the path for the compiler, and find the shim."""
    for folder in os.environ["PATH"].split(os.pathsep):
        found = shutil.which(name, path=folder)
        if found and os.path.basename(os.path.realpath(found)) not in ("ccache", "sccache"):
            return found
    raise LookupError(f"there is no compiler {name}")


def shim(folder, name, *words):
    """Makes a command that runs `words` followed by its own arguments."""
    file = folder / name
    file.write_text("#!/bin/sh\nexec " + shlex.join([str(word) for word in words]) + ' "$@"\n', encoding="utf-8")
    file.chmod(0o755)


def surroundings(build, prefix, sanitizer, folder):
    """(the environment in which the commands of a page run, None), or (None, why there is none here)."""
    launcher = launch.mpirun()
    if launcher is None:
        return None, "there is no Open MPI mpirun (tools/install-dependencies)"
    if shutil.which("pkg-config") is None:
        return None, "there is no pkg-config"
    prefix_here = link_installation(build, prefix, folder / "installed")
    # The compiler and sanitizer of the build.
    compiler = program_of(compile_command(build)[0][0])
    commands = commands_of_mpi(launcher, folder)
    shim(commands, "c++", compiler, *([f"-fsanitize={sanitizer}"] if sanitizer != "none" else []))
    package = next(prefix_here.rglob("chorale.pc"))
    library = package.parent.parent
    own = {
        "PATH": os.pathsep.join([str(commands), str(prefix_here / "bin"), os.environ["PATH"]]),
        "PKG_CONFIG_PATH": str(package.parent),
        "CMAKE_PREFIX_PATH": str(prefix_here),
        "LD_LIBRARY_PATH": os.pathsep.join(filter(None, [str(library), os.environ.get("LD_LIBRARY_PATH", "")])),
        "CXX": str(commands / "c++"),
    }
    return inherited() | own, None


def of_this_system(folder):
    """The same for an installation in the system: adds only what an ordinary user does not need."""
    launcher = launch.mpirun()
    if launcher is None:
        return None, "there is no Open MPI mpirun"
    return inherited() | {"PATH": os.pathsep.join([str(commands_of_mpi(launcher, folder)), os.environ["PATH"]])}, None


def commands_of_mpi(launcher, folder):
    """A folder of commands: mpirun for any user and any number of cores, and Open MPI's compiler if installed (libopenmpi-dev completes it)."""
    commands = folder / "commands"
    commands.mkdir()
    shim(commands, "mpirun", *launcher)
    if mpi_compiler := shutil.which("mpicxx.openmpi"):
        shim(commands, "mpicxx", mpi_compiler)
    return commands


def inherited():
    """The environment of the tests, on soft0 and without Chorale's settings; root may start ranks."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CHORALE_") or name == "CHORALE_WAIT"}
    return kept | {"CHORALE_DEVICE": "soft0", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
