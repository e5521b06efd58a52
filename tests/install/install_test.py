#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Uses Chorale from outside: builds and runs a program against an installed copy, or has it as a subproject.

Installed: the build is installed into a temporary folder, and a program outside the tree is built against it and run. That of the way
`examples` is one of the installed examples, built by what is installed beside it; the installed pages are looked at, too.
As a subproject of Meson, or fetched by CMake: only configured, since what is asked is which targets it brings along.
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "support"))
from project_compiler import compile_command  # noqa: E402

SKIPPED = 77


def run(command, **settings):
    """Runs a command; its output goes to the test's log. Ends the test if the command fails."""
    print("+", shlex.join(command), flush=True)
    return subprocess.run(command, check=True, text=True, **settings)


def find(folder, name):
    """The only file of that name below the folder."""
    found = sorted(folder.rglob(name))
    if len(found) != 1:
        sys.exit(f"{len(found)} files named {name} were installed below {folder}, not 1")
    return found[0]


def is_static(installed):
    """Whether only the static library is installed, whose dependencies the program must link itself."""
    return not list(installed.rglob("libchorale.so"))


def by_pkg_config(options, installed, work):
    """Builds as a Makefile would: c++ $(pkg-config --cflags --libs chorale), with --static for the static library."""
    pc = find(installed, "chorale.pc")
    # The files name the build's prefix, but are installed in the temporary folder. A bundled fmt has a .pc file, too.
    for file in pc.parent.glob("*.pc"):
        lines = file.read_text().splitlines()
        if lines.count(f"prefix={options.prefix}") != 1:
            sys.exit(f"{file} does not set prefix={options.prefix} once")
        lines[lines.index(f"prefix={options.prefix}")] = f"prefix={installed}"
        file.write_text("\n".join(lines) + "\n")
    environment = dict(os.environ)
    environment["PKG_CONFIG_PATH"] = os.pathsep.join([str(pc.parent), environment.get("PKG_CONFIG_PATH", "")])
    query = run(["pkg-config", "--cflags", "--libs", *(["--static"] if is_static(installed) else []), "chorale"], env=environment, stdout=subprocess.PIPE)
    print(query.stdout, end="")
    program = work / "consumer"
    run([options.cxx, "-std=c++20", "-Wall", "-Wextra", "-Werror", *shlex.split(options.cxx_flags),
         str(HERE / "consumer" / "main.cpp"), "-o", str(program), *shlex.split(query.stdout)])
    return program


def by_cmake(options, installed, work):
    """Builds as a CMake project would: find_package(chorale), chorale::chorale."""
    build = work / "build"
    run(["cmake", "-G", "Ninja", "-S", str(HERE / "consumer"), "-B", str(build), f"-DCMAKE_PREFIX_PATH={installed}",
         f"-DCMAKE_CXX_COMPILER={options.cxx}",
         f"-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror {options.cxx_flags}"])
    run(["cmake", "--build", str(build), "--verbose"])
    return build / "consumer"


# Only two of the examples: one that needs the library alone, and one in virtual time.
FEW_EXAMPLES = {"01_hello": "libchorale.*", "12_virtual_time": "libchorale-sim.*"}
LINK = re.compile(r"\]\(([^)#\s]+)")


def broken_links(installed, docs):
    """Broken links of installed pages. Links to files of the source tree outside docs/ and examples/ are permitted."""
    for page in sorted(docs.rglob("*.md")):
        prose = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target in LINK.findall(prose):
            if re.match(r"[a-z]+:", target):
                continue
            there = pathlib.Path(os.path.normpath(page.parent / target))
            inside = there.relative_to(docs)
            if inside.parts[0] == "include":
                there = installed / inside
                if there.suffix == ".md":
                    continue
            elif not there.exists() and inside.parts[0] not in ("docs", "examples") and (ROOT / inside).exists():
                continue
            if not there.exists():
                yield f"{page.relative_to(docs)} leads to {target}, which is not installed"


def by_examples(options, installed, work):
    """Builds installed examples by the CMake project beside them, and runs all but one, which the caller runs."""
    docs = find(installed, "01_hello.cpp").parent.parent
    in_tree = {path.relative_to(ROOT) for folder in ("docs", "examples") for path in (ROOT / folder).rglob("*")
               if path.is_file() and path.name != "meson.build" and not {"__pycache__", "man"} & set(path.parts)}
    missing = sorted(str(path) for path in in_tree if not (docs / path).is_file())
    wrong = [f"{path} is not installed" for path in missing] + list(broken_links(installed, docs))
    if wrong:
        sys.exit("\n".join(wrong))
    names = [name for name, library in FEW_EXAMPLES.items() if list(installed.rglob(library))]
    build = work / "build"
    run(["cmake", "-G", "Ninja", "-S", str(docs / "examples"), "-B", str(build), f"-DCMAKE_PREFIX_PATH={installed}",
         f"-DCMAKE_CXX_COMPILER={options.cxx}", f"-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror {options.cxx_flags}"])
    run(["cmake", "--build", str(build), "--verbose", "--parallel", "1", "--target", *names])
    environment = dict(os.environ, LD_LIBRARY_PATH=str(find(installed, "chorale.pc").parent.parent), CHORALE_DEVICE="soft0")
    for name in names[1:]:
        run([str(build / name)], env=environment, timeout=300)
    return build / names[0]


PROJECT = """project('outside', 'cpp', default_options : ['cpp_std=c++20'])
chorale = dependency('chorale', fallback : 'chorale'{options})
executable('consumer', 'main.cpp', dependencies : chorale)
"""


FETCHED = """cmake_minimum_required(VERSION 3.19)
project(outside CXX)
include(FetchContent)
FetchContent_Declare(chorale SOURCE_DIR "{tree}")
FetchContent_MakeAvailable(chorale)
add_executable(consumer main.cpp)
target_link_libraries(consumer PRIVATE chorale::chorale)
"""
# Targets that are parts of the library.
PARTS = {"chorale-soft-device", "chorale-standard", "shipped-profiles", "simulated-rows", "soft-layout-version"}


def targets_in(options, build):
    """The names of a Meson build's targets, without the parts of the library."""
    said = subprocess.run([options.meson, "introspect", "--targets", str(build)], check=True, text=True,
                          stdout=subprocess.PIPE)
    return sorted({target["name"] for target in json.loads(said.stdout)} - PARTS)


def as_fetched(options, work):
    """By CMake's FetchContent: builds the library alone, by Meson, before the program."""
    (work / "CMakeLists.txt").write_text(FETCHED.format(tree=ROOT))
    shutil.copy(HERE / "consumer" / "main.cpp", work)
    build = work / "build"
    run(["cmake", "-G", "Ninja", "-S", str(work), "-B", str(build), f"-DCMAKE_CXX_COMPILER={options.cxx}"])
    run(["cmake", "--build", str(build), "--target", "chorale_by_meson-configure"])
    found = targets_in(options, find(build, "by-meson"))
    if found != ["chorale"]:
        sys.exit(f"fetched by CMake there are the targets {found}, not the library alone")
    plan = subprocess.run(["ninja", "-C", str(build), "-n", "consumer"], check=True, text=True, stdout=subprocess.PIPE).stdout
    if not 0 <= plan.find("build step for 'chorale_by_meson'") < plan.find("Linking CXX executable consumer"):
        sys.exit(f"the library is not built before the program:\n{plan}")


def targets_as_subproject(options, work, wanted):
    """The names of the targets of another project that has Chorale as its subproject."""
    outside = work / f"outside{len(wanted)}"
    (outside / "subprojects").mkdir(parents=True)
    (outside / "subprojects" / "chorale").symlink_to(HERE.parent.parent)
    # The source tree may contain build folders, which a subproject ignores.
    chosen = f", default_options : [{', '.join(repr(word) for word in wanted)}]" if wanted else ""
    (outside / "meson.build").write_text(PROJECT.format(options=chosen))
    shutil.copy(HERE / "consumer" / "main.cpp", outside)
    environment = dict(os.environ, CXX=options.cxx)
    # An installed Chorale must not be used instead.
    run([options.meson, "setup", "--force-fallback-for", "chorale",
         str(outside / "build"), str(outside)], env=environment)
    return targets_in(options, outside / "build")


def as_subproject(options, work):
    """A subproject builds the library alone, with its parts and the sources generated for it, and the targets that are requested."""
    for wanted, expected in ((), ["chorale", "consumer"]), (("examples=true",), ["01_hello", "chorale", "consumer"]):
        found = targets_as_subproject(options, work, wanted)
        kept = [name for name in found if name in expected or not wanted]
        if kept != expected:
            sys.exit(f"as a subproject with options {wanted} there are the targets {found}, not {expected}")


WAYS = {"pkg-config": by_pkg_config, "cmake": by_cmake, "examples": by_examples}
# The program that a way of building needs.
NEEDS = {"examples": "cmake", "fetched": "cmake"}
ONLY_CONFIGURED = {"subproject": as_subproject, "fetched": as_fetched}


def main():
    """Installs, builds and runs; removes the temporary folder in any case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("way", choices=[*WAYS, *ONLY_CONFIGURED])
    parser.add_argument("--meson", required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--prefix", required=True)
    parser.add_argument("--cxx-flags", default="")
    options = parser.parse_args()
    needed = NEEDS.get(options.way, options.way)
    if needed != "subproject" and shutil.which(needed) is None:
        print(f"skipped: {needed} is not installed")
        sys.exit(SKIPPED)
    options.cxx = compile_command(options.build)[0][0]

    with tempfile.TemporaryDirectory(prefix="chorale-install-") as folder:
        work = pathlib.Path(folder)
        if options.way in ONLY_CONFIGURED:
            ONLY_CONFIGURED[options.way](options, work)
            return
        destination = work / "destination"
        run([options.meson, "install", "-C", options.build, "--quiet", "--destdir", str(destination)])
        installed = destination / options.prefix.lstrip("/")
        find(installed, "config.hpp")
        program = WAYS[options.way](options, installed, work)
        needed = subprocess.run(["readelf", "--dynamic", str(program)], check=True, text=True, stdout=subprocess.PIPE).stdout
        if ("libchorale.so" in needed) == is_static(installed):
            sys.exit(f"a program of the {'static' if is_static(installed) else 'shared'} library needs:\n{needed}")
        environment = dict(os.environ, CHORALE_DEVICE="soft0")
        environment["LD_LIBRARY_PATH"] = str(find(installed, "chorale.pc").parent.parent)
        run([str(program)], env=environment, timeout=300)


if __name__ == "__main__":
    main()
