#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each foreign program and header that tests and tools use is known, with the Debian package that provides it. Usage: foreign.py ROOT

Packages of `tools/install-dependencies`, and of every Debian, may be used anywhere. A file that uses something else must name its package, as the reason
for which a test is skipped, or as the remedy; for a source, its meson.build does. So tools/check passes on a machine with no other packages than those.
Programs are looked for in Python (calls that run programs, and `which`), in meson.build, and in the terminals of the guide; headers in C++.
"""
import ast
import pathlib
import re
import subprocess
import sys

from tree import SOURCES, includes, resolve, run, sources

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from markdown_blocks import blocks  # noqa: E402

# Programs that every Debian has.
ANYWHERE = {"bash", "cat", "cp", "echo", "env", "export", "for", "grep", "kill", "ls", "lscpu", "mkdir", "rm", "sed", "setpriv", "setsid", "sh", "sleep", "test", "touch", "true", "ulimit", "unshare",
            "wait"}
PROGRAMS = {
    "c++": "g++", "c++filt": "g++", "g++": "g++", "nm": "g++", "objdump": "g++", "readelf": "g++",
    "cmake": "cmake", "meson": "meson", "ninja": "ninja-build", "pkg-config": "pkg-config", "python3": "python3",
    "mpirun": "openmpi-bin", "mpirun.openmpi": "openmpi-bin",
    "mpicxx": "libopenmpi-dev", "mpicxx.openmpi": "libopenmpi-dev",
    "mpirun.mpich": "mpich", "mpiexec.hydra": "mpich",
    "clang-format-16": "clang-format-16", "clang++": "clang", "doxygen": "doxygen", "dot": "graphviz", "git": "git", "gnuplot": "gnuplot-nox", "groff": "groff-base",
    "ib_write_lat": "perftest", "mkdocs": "mkdocs", "munged": "munge", "node": "nodejs", "shellcheck": "shellcheck", "sinfo": "slurm-client", "slurmctld": "slurmctld", "slurmd": "slurmd", "srun": "slurm-client", "ssh": "openssh-client", "tc": "iproute2", "valgrind": "valgrind",
}
# Names for pkg-config and CMake, as used in meson.build.
DEPENDENCIES = {
    "CLI11": "libcli11-dev", "blas": "libopenblas-dev", "boost": "libboost-context-dev", "catch2": "catch2", "cblas": "libopenblas-dev", "dl": "g++", "fmt": "libfmt-dev",
    "libibverbs": "libibverbs-dev", "librdmacm": "librdmacm-dev", "mpich": "libmpich-dev", "nlohmann_json": "nlohmann-json3-dev", "ompi-c": "libopenmpi-dev",
    "openblas": "libopenblas-dev", "pmix": "libpmix-dev", "threads": "g++",
}
# Headers of the C++ library, POSIX and the kernel come with the compiler.
HEADERS = {
    r"[a-z_0-9]+|bits/\w+\.h": "g++", r"(arpa|asm|linux|net|netinet|sys)/[\w/]+\.h": "g++",
    r"(complex|cpuid|cxxabi|dirent|dlfcn|elf|endian|errno|execinfo|fcntl|fenv|ifaddrs|limits|link|malloc|netdb|poll|pthread|pwd|sched|semaphore|setjmp|signal|spawn|stdio|stdlib|string|"
    r"termios|time|ucontext|unistd|\w+intrin)\.h": "g++",
    r"sanitizer/\w+\.h": "g++", r"CLI/.+": "libcli11-dev", r"boost/.+": "libboost-context-dev", r"catch2/.+": "catch2", r"cblas\.h": "libopenblas-dev", r"fmt/.+": "libfmt-dev",
    r"infiniband/.+": "libibverbs-dev", r"mpi\.h": "libopenmpi-dev", r"nlohmann/.+": "nlohmann-json3-dev", r"pmix\w*\.h": "libpmix-dev", r"rdma/.+": "librdmacm-dev",
    r"valgrind/.+": "valgrind",
}
RUNS = {"run", "Popen", "call", "check_call", "check_output"}
ASKS = {"which", "need"}
MESON = re.compile(r"\b(find_program|dependency)\(\s*'([^'/]+)'")
FOLDERS = ("tests", "tools")
# .ci/run recognizes tests that were skipped, wholly or in part, by these words, and runs them again after installing more
# packages.
MARK = "tools/install-dependencies --ci"


def name_of(call):
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def run_by(path):
    """(line, name) of each program that a Python file runs or looks up by a literal name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and node.args:
            first = node.args[0]
            if name_of(node) in RUNS and isinstance(first, ast.List) and first.elts:
                first = first.elts[0]
            elif name_of(node) not in ASKS:
                continue
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield node.lineno, first.value.rsplit("/", 1)[-1]


def in_python(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and (path.suffix == ".py" or path.suffix == "" and path.read_bytes()[:40].startswith(b"#!/usr/bin/env python3")):
                for line, name in run_by(path):
                    yield path.relative_to(root), line, name, PROGRAMS.get(name)


def in_meson(root):
    for folder in ("examples", "lib", *FOLDERS):
        for path in sorted((root / folder).rglob("meson.build")):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                for kind, name in MESON.findall(line):
                    if not name.endswith(".py"):
                        yield path.relative_to(root), number, name, (PROGRAMS if kind == "find_program" else DEPENDENCIES).get(name)


def in_pages(root):
    """The commands of terminals that are replayed, except those of Chorale and of the page itself."""
    for path in sorted((root / "docs/guide").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        for block in blocks(text):
            if block.language == "" and not block.text.startswith("# Needs "):
                for number, line in enumerate(block.text.splitlines(), block.line + 1):
                    command = re.match(r"\$ \(?(?:\w+=\S+ )*(\S+)", line)
                    if command and not re.match(r"\.?/|build/|chorale-|tools/|\w+=", command.group(1)):
                        yield path.relative_to(root), number, command.group(1), PROGRAMS.get(command.group(1))


def in_sources(root):
    for file in sources(root, "include", "lib", "examples", *FOLDERS):
        for number, name, quoted in includes(root / file):
            if not quoted and resolve(root, file, name, quoted) is None and not name.startswith("chorale/"):
                yield file, number, name, next((package for pattern, package in HEADERS.items() if re.fullmatch(pattern, name)), None)


def used(root):
    """(file, line, name, its package or None) of everything foreign."""
    for where in (in_python, in_meson, in_pages, in_sources):
        yield from where(root)


def is_of_a_test(file):
    return file.name.endswith("_test.py")


def texts(root, file):
    """The text of a file, and of the meson.build files that decide whether it is compiled."""
    yield (root / file).read_text(encoding="utf-8")
    if file.suffix in SOURCES:
        yield from (path.read_text(encoding="utf-8") for path in (root / folder / "meson.build" for folder in file.parents) if path.is_file())


def offences(root, default):
    """Uses of unknown names, and uses beyond the packages `default` in files that do not name the package. `default`: the packages of the tree, and of tests in a virtual machine."""
    for file, line, name, package in used(root):
        if name in ANYWHERE:
            continue
        if package is None:
            yield f"{file}:{line}: {name}: which Debian package brings it? tests/style/foreign.py does not know it"
        elif package not in default[file.parts[1] == "lab"] and not any(package in text and (MARK in text or not is_of_a_test(file)) for text in texts(root, file)):
            yield f"{file}:{line}: {name}: is of {package}, which tools/install-dependencies does not install: skip the test where it is missing, and name the package" + (f" and {MARK}" if is_of_a_test(file) else "")


def of_tree(root):
    default = [subprocess.run([root / "tools/install-dependencies", "--list", *more], check=True, text=True, stdout=subprocess.PIPE).stdout.split() for more in ([], ["--lab"])]
    return list(offences(root, default))


if __name__ == "__main__":
    run(of_tree, used, "uses of what is foreign")
