# SPDX-License-Identifier: Apache-2.0
"""This tree, the files of other commits, their libraries, and programs linked with them."""
import os
import pathlib
import shlex
import shutil

from measuring import process

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = pathlib.Path("tools", "measuring", "counted")
COUNTED = ROOT / PROGRAMS
LIMIT = 7200  # seconds


def call(*words):
    """Runs a command. @returns the beginning of its output. @throws Refused"""
    return process.run_named(words, process.environment(), LIMIT)


def unpacked(commit, folder):
    """The name of the commit, and a folder with its files, outside of Git's control."""
    name = call("git", "-C", ROOT, "rev-parse", "--short=10", f"{commit}^{{commit}}").strip()
    tree = folder / name
    if not tree.exists():
        part = folder / f"{name}.part"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        call("sh", "-c", 'git -C "$1" archive "$2" | tar -x -C "$3"', "sh", ROOT, name, part)
        part.rename(tree)
    return name, tree


def built(tree, release):
    """The library of a tree, built in `release` as far as necessary."""
    if not (release / "build.ninja").exists():
        call("meson", "setup", release, tree, "-Dbuildtype=release", "-Db_ndebug=true", "-Dtests=false", "-Dexamples=false", "-Dtools=false")
    call("ninja", "-C", release, "--quiet")
    return release / "lib" / "libchorale.so"


def linked(tree, library, program, source, *options):
    """Links a program from a source below counted/, with the headers and library of a tree, if necessary. Prefers the tree's own source, since
    the interface of calls may differ."""
    own = tree / PROGRAMS / source
    source = own if own.exists() else COUNTED / source
    needs = [source, source.parent / "counting.hpp", library, *(tree / "include").rglob("*.hpp")]
    if not program.exists() or program.stat().st_mtime < max(file.stat().st_mtime for file in needs):
        call(*shlex.split(os.environ.get("CXX", "g++")), "-std=c++20", "-O2", "-DNDEBUG", *options, f"-I{tree / 'include'}", source, "-o", program,
             f"-L{library.parent}", "-lchorale", "-lfmt", f"-Wl,-rpath,{library.parent}")
    return program
