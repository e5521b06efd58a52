#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does what a page of the guide says: writes its files, compiles and runs its statements, and replays its terminals.

Usage: page_test.py BUILD PREFIX SANITIZER PAGE; page_test.py --installed PAGE with the Chorale installed in this system; or
page_test.py --from-nothing PAGE, which first installs it from this tree, as root, by the commands of the page that need root. Each
command must succeed and print what the page shows; page.py has the rules. If PAGE is a folder, its pages are tested, with the
statements of all in one program. Exit status 77 (skipped), with the reason, if there is no Open MPI mpirun.
"""
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

import installation
import launch  # from the folder that `installation` adds to the path
import page as pages

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RANKS = 3
SECONDS = 300
BEGAN = time.time()
# Separates the commands of a terminal, with the status of the previous command and the time of its end.
END = "\x01"


def as_program(all_pages):
    """One program with all statements of these pages, each block in its own function with a communicator."""
    included = {"#include <chorale/chorale.hpp>", "#include <fmt/format.h>"}
    text = []

    def without_includes(name, block):
        included.update(re.findall(r"^#include .*", block.text, re.MULTILINE))
        return f'#line {block.line + 1} "{name}"\n' + re.sub(r"^#include .*", "", block.text, flags=re.MULTILINE)

    for page in all_pages:
        text += [without_includes(page.name, block) for block in page.declarations]
    statements = [(page.name, block) for page in all_pages for block in page.statements]
    for number, (name, block) in enumerate(statements):
        text.append(f"static void snippet_{number}([[maybe_unused]] chorale::communicator<>& comm) {{ {{\n{without_includes(name, block)}}} }}\n")
    calls = "".join(f"  snippet_{number}(comm);\n" for number in range(len(statements)))
    return "\n".join([*sorted(included), *text, f"int main() {{\n  chorale::communicator<> comm;\n{calls}}}\n"])


def run_script(script, environment, folder):
    """The output of a bash script; all its processes end with it."""
    status, output = launch.run(["bash", "-c", script], SECONDS, environment, folder)
    return output + (f"\n(not over after {SECONDS} s)" if status == 124 else "")


def replay(page, commands, environment, folder):
    """Errors of a terminal: commands that failed, or printed other lines than the page shows."""
    script = "".join(f"{command.text}\nprintf '{END}%d %s{END}' $? \"$EPOCHREALTIME\"\n" for command in commands)
    began = time.time()
    parts = run_script(script, environment, folder).split(END)
    wrong = []
    for number, command in enumerate(commands):
        said = (parts[2 * number] if 2 * number < len(parts) else "").splitlines()
        status, _, ended = (parts[2 * number + 1] if 2 * number + 1 < len(parts) else "none").partition(" ")
        print(f"{page.name}:{command.line}: $ {command.text}", *said, sep="\n", flush=True)
        if ended:
            # The user's locale determines the decimal separator.
            ended = float(ended.replace(",", "."))
            print(f"({ended - began:.1f} s; {ended - BEGAN:.1f} s since the test began)", flush=True)
            began = ended
        if status != "0":
            wrong.append(f"{page.name}:{command.line}: exit status {status} of: {command.text}")
        elif not pages.fits(command.expected, said):
            wrong.append(f"{page.name}:{command.line}: printed other lines than the page shows: {command.text}\n  " + "\n  ".join(command.expected))
    return wrong


def processor_seconds():
    """Processor time of all child processes that have ended: unlike elapsed time, independent of the machine's other load."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def install(path):
    """Runs the commands of the page that need root, without a time limit."""
    commands = [command for session in pages.sessions_that_need(path, "root") for command in session]
    for command in commands:
        began, busy = time.time(), processor_seconds()
        print(f"{path.name}:{command.line}: $ {command.text}", flush=True)
        subprocess.run(["bash", "-c", command.text], cwd=ROOT, stdin=subprocess.DEVNULL, check=True)
        print(f"({time.time() - began:.1f} s, of processors {processor_seconds() - busy:.1f} s; {time.time() - BEGAN:.1f} s since the test began)", flush=True)


def follow(page, environment, folder):
    """Errors of a page's files and terminals."""
    for line, skipped, _ in page.skipped:
        print(f"{page.name}:{line}: not replayed: {skipped}{' (tools/install-dependencies --ci)' if skipped.startswith('Where ') and 'chorale-' not in skipped else ''}")
    for name, text in page.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    wrong = []
    for commands in page.sessions:
        wrong += replay(page, commands, environment, folder)
    asked = "\n".join(command.text for commands in page.sessions for command in commands) + "\n".join(page.files.values())
    asked += "".join(commands for _, _, commands in page.skipped)
    return wrong + [f"{page.name}: no command of the page compiles {name}" for name in page.files
                    if name.endswith((".cpp", ".c", ".hpp")) and asked.count(name) < 2]


def main():
    *where, path = sys.argv[1:]
    path = ROOT / path
    if where == ["--from-nothing"]:
        install(path)
    with tempfile.TemporaryDirectory(prefix="chorale-guide-") as place:
        if where in (["--installed"], ["--from-nothing"]):
            environment, reason = installation.of_this_system(pathlib.Path(place))
        else:
            build, prefix, sanitizer = where
            environment, reason = installation.surroundings(pathlib.Path(build), prefix, sanitizer, pathlib.Path(place))
        if environment is None:
            print(f"skipped: {reason}")
            sys.exit(77)
        folder = pathlib.Path(place) / "work"
        folder.mkdir()
        all_pages, wrong = [], []
        for file in sorted(path.glob("*.md")) if path.is_dir() else [path]:
            try:
                all_pages.append(pages.read(file, environment["PATH"]))
            except ValueError as e:
                sys.exit(f"{file.name}: {e}")
            wrong += follow(all_pages[-1], environment, folder)
        if any(page.statements or page.declarations for page in all_pages):
            (folder / "statements.cpp").write_text(as_program(all_pages), encoding="utf-8")
            wrong += replay(all_pages[0], [
                pages.Command("c++ -std=c++20 -Wall -Werror -Wno-unused-variable -Wno-unused-but-set-variable statements.cpp -o statements "
                              "$(pkg-config --cflags --libs chorale fmt)", [], 0),
                pages.Command(f"mpirun -n {RANKS} ./statements", ["..."], 0)], environment, folder)
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
