#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The sessions on two hosts of pages of the guide: what the pages say is what runs.

session.py prepare BUILD FOLDER        on this machine: writes the pages' files there, and compiles them as the pages do
session.py replay BUILD FOLDER PAGE    in the lab, on node1: installs Chorale on each host, and replays the terminals of a page, such as cluster
"""
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/guide"))
sys.dont_write_bytecode = True

import installation  # noqa: E402
import page as pages  # noqa: E402
import page_test  # noqa: E402

PAGES = {name: ROOT / f"docs/guide/{name}.md" for name in ("cluster", "without-launcher")}
NEED = "two hosts"
HOSTS = ("node1", "node2")
# The processors of the lab are emulated.
page_test.SECONDS = 1200


def prepare(build, folder):
    """Makes an installation of links to the build, visible to all hosts, and the programs of the pages. @returns the errors"""
    folder.mkdir(parents=True)
    options = {option["name"]: option["value"] for option in json.loads((build / "meson-info/intro-buildoptions.json").read_text(encoding="utf-8"))}
    environment, reason = installation.surroundings(build, options["prefix"], options["b_sanitize"], folder)
    if environment is None:
        print(f"skipped: {reason}")
        sys.exit(77)
    work = folder / "work"
    work.mkdir()
    wrong = []
    for page in (pages.read(path, environment["PATH"]) for path in PAGES.values()):
        for name, text in page.files.items():
            (work / name).write_text(text, encoding="utf-8")
        compiles = [command for commands in page.sessions for command in commands if command.text.startswith("c++ ")]
        wrong += page_test.replay(page, compiles, environment, work)
    return wrong


def install(folder):
    """Links library and tools into the standard folders of each host; all hosts share the same files."""
    libraries = shlex.quote(str(next((folder / "installed").rglob("libchorale.so")).parent))
    script = f"ln -sf {libraries}/libchorale* /usr/lib/x86_64-linux-gnu/; ln -sf {shlex.quote(str(folder))}/installed/bin/* /usr/bin/"
    for host in HOSTS:
        subprocess.run(["ssh", host, script], check=True, stdin=subprocess.DEVNULL)


def replay(folder, path):
    """Replays the sessions of a page. @returns the errors"""
    install(folder)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CHORALE_")}
    environment = kept | {"PATH": f"{folder / 'commands'}:{kept['PATH']}", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    sessions = pages.sessions_that_need(path, NEED)
    if not sessions:
        return [f"{path.name} has no terminal that begins with '# Needs {NEED}'"]
    page = pages.read(path, environment["PATH"])
    return [mistake for commands in sessions for mistake in page_test.replay(page, commands, environment, folder / "work")]


def main():
    what, build, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    wrong = prepare(build, folder) if what == "prepare" else replay(folder, PAGES[sys.argv[4]])
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
