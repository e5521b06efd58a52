#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the manual pages with the programs: each installed program has a page with exactly the options of its --help.

Usage: man_test.py BUILD. Includes subcommands, and the values that an option chooses from. Also checks that references exist, that
chorale(7) names every program, and that groff has no warnings.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGES = ROOT / "docs" / "man"
# An option at the beginning of a line of --help, possibly after its short form; then an option of a page.
SHOWN = re.compile(r"^  (?:-\w,\s*)?--([\w-]+)", re.MULTILINE)
DESCRIBED = re.compile(r"^\.It (?:Fl \w , )?Fl -([\w-]+)", re.MULTILINE)
CHOICES = re.compile(r"\{([\w,-]+)\}")


def help_of(program, *words):
    """The output of --help."""
    done = subprocess.run([program, *words, "--help"], check=False, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=300)
    if done.returncode != 0:
        sys.exit(f"{program.name} {' '.join([*words, '--help'])} ended with status {done.returncode}")
    return done.stdout


def options_of(program):
    """The options of a program and its subcommands, and the values to choose from."""
    text = help_of(program)
    subcommands = re.search(r"^Subcommands:\n((?:  .*\n)+)", text, re.MULTILINE)
    names = re.findall(r"^  ([\w-]+) ", subcommands.group(1), re.MULTILINE) if subcommands else []
    text += "".join(help_of(program, name) for name in names)
    options = set(SHOWN.findall(text))
    # The --help text of chorale-soft does not list --help.
    return options | {"help"}, {word for choice in CHOICES.findall(text) for word in choice.split(",")} | set(names)


def differences(program, page):
    """Differences between a page and its program."""
    text = page.read_text(encoding="utf-8")
    shown, words = options_of(program)
    described = set(DESCRIBED.findall(text))
    where = page.relative_to(ROOT)
    yield from (f"{where} has no --{name}, which {program.name} --help shows: add it" for name in sorted(shown - described))
    yield from (f"{where} has --{name}, which {program.name} --help does not show: remove it" for name in sorted(described - shown))
    yield from (f"{where} does not name {word}, between which and others {program.name} lets choose"
                for word in sorted(words) if not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text))


def faults(page):
    """Errors of a page alone."""
    text = page.read_text(encoding="utf-8")
    where = page.relative_to(ROOT)
    known = (ROOT / "lib/core/settings.cpp").read_text(encoding="utf-8")
    for name, section in re.findall(r"\.Xr (chorale[\w-]*) (\d)", text):
        if not (PAGES / f"{name}.{section}").is_file():
            yield f"{where} refers to {name}({section}), which is not in docs/man"
    for name in re.findall(r"\.Ev (CHORALE_\w+)", text):
        if f'"{name}"' not in known:
            yield f"{where} names the variable {name}, which is not in lib/core/settings.cpp"
    if not re.search(rf"^\.Nm {re.escape(page.stem)}\n\.Nd \w", text, re.MULTILINE):
        yield f"{where} has no line NAME that man -k finds: .Nm {page.stem}, .Nd and what it does"
    if shutil.which("groff"):
        said = subprocess.run(["groff", "-mdoc", "-Tutf8", "-ww", "-z", page], check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        yield from (f"groff: {line}" for line in said.stdout.splitlines())
    else:
        print(f"{where}: not looked at by groff: groff-base is not installed (tools/install-dependencies --ci)")


def main():
    installed = json.loads((pathlib.Path(sys.argv[1]) / "meson-info/intro-installed.json").read_text(encoding="utf-8"))
    programs = sorted(pathlib.Path(source) for source, to in installed.items() if pathlib.PurePath(to).parent.name == "bin")
    pages = {pathlib.PurePath(to).name for to in installed.values() if pathlib.PurePath(to).parent.name.startswith("man")}
    if not programs:
        sys.exit("no program is installed: nothing was checked")
    wrong = []
    overview = (PAGES / "chorale.7").read_text(encoding="utf-8")
    for program in programs:
        page = PAGES / f"{program.name}.1"
        if not page.is_file() or page.name not in pages:
            wrong.append(f"{program.name} is installed without a manual page: write docs/man/{page.name}, and install_man() it beside the program")
            continue
        wrong += differences(program, page)
        if f".It Xr {program.name} 1\n" not in overview:
            wrong.append(f"docs/man/chorale.7 does not name {program.name}")
    for page in sorted(PAGES.iterdir()):
        wrong += faults(page)
    print(f"{len(programs)} programs, {len(list(PAGES.iterdir()))} pages")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
