#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles sources of a build without making code, with the build's flags, each once. Usage: syntax.py BUILD [--alone]

Each file that the build knows of and has not built: so another compiler sees the whole tree, and with -Dwerror=true complains about all of it, although only what is run is
built. With --alone each source by itself that the build compiles together with others, or behind a precompiled header, which hide that it lacks an #include. If
CHORALE_TEST_SINCE names a commit, sources of both kinds by themselves, but only those that have changed since then by more than comments, and of those not built also those with such a
header of their own; the most changed first, and after ten minutes no more. Prints what the compiler says; exit status 1 if a file does not compile.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from project_compiler import WITH_VALUE, strip  # noqa: E402
import tree  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOGETHER = re.compile(r"#include\s*<(.+)>")
# The headers of the library are compiled with what is built.
LIBRARY = ("include", "lib")


def not_built(entries):
    """An entry of compile_commands.json for each file of which no target has an object file."""
    built = {entry["file"] for entry in entries if os.path.exists(os.path.join(entry["directory"], entry["output"]))}
    left = {}
    for entry in entries:
        if entry["file"] not in built:
            left.setdefault(entry["file"], entry)
    return list(left.values())


def apart(entry):
    """An entry for each source of a unity file; for other files, the entry itself."""
    if re.search(r"-unity\d+\.cpp$", entry["file"]) is None:
        return [entry]
    text = pathlib.Path(entry["directory"], entry["file"]).read_text(encoding="utf-8")
    return [{**entry, "file": file, "source": entry["file"]} for file in TOGETHER.findall(text)]


def path_of(entry):
    return pathlib.Path(os.path.normpath(os.path.join(entry["directory"], entry["file"])))


def alone(entries):
    """An entry for each source of the tree that no target compiles by itself, without generated sources."""
    by_itself, left = set(), {}
    for entry in entries:
        for one in apart(entry):
            path = path_of(one)
            if path.is_relative_to(one["directory"]):
                continue
            if "source" in one or any(word in WITH_VALUE for word in shlex.split(one["command"]) if word.startswith("-include")):
                left.setdefault(path, one)
            else:
                by_itself.add(path)
    return [entry for path, entry in left.items() if path not in by_itself]


def changed(commit):
    """{file: changed lines} of the files, relative to ROOT, that differ between a commit and the working tree in more than comment lines."""
    words = ["git", "diff", "--numstat", "--no-renames", "-z", r"-I^\s*//", commit]
    said = subprocess.run(words, cwd=ROOT, text=True, stdout=subprocess.PIPE, check=True).stdout
    rows = [line.split("\t", 2) for line in said.split("\0") if line]
    return {pathlib.Path(file): int(more) + int(less) for more, less, file in rows if more != "-"}


def touched(entries, lines, root=ROOT):
    """An entry for each source to compile by itself because of these changed lines of files, those with most of them first."""
    weights, found = {}, {}
    for entry in alone(entries):
        weights[path_of(entry)], found[path_of(entry)] = lines.get(path_of(entry).relative_to(root), 0), entry
    for entry in (one for unbuilt in not_built(entries) for one in apart(unbuilt)):
        path = path_of(entry)
        if path.is_relative_to(root) and not path.is_relative_to(entry["directory"]):
            source = path.relative_to(root)
            own = {source, *(file for file in tree.closure(root, [source]) if file.parts[0] not in LIBRARY)}
            weights[path], found[path] = sum(lines.get(file, 0) for file in own), entry
    return sorted((entry for path, entry in found.items() if weights[path]), key=lambda entry: -weights[path_of(entry)])


def check(entry):
    """(status, diagnostics) of one source file."""
    command = [*strip(shlex.split(entry["command"]), entry.get("source", entry["file"])), "-fsyntax-only", entry["file"]]
    done = subprocess.run(command, cwd=entry["directory"], text=True, capture_output=True, check=False)
    return done.returncode, done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--alone", action="store_true")
    options = parser.parse_args()
    os.nice(5)  # tests that run concurrently have deadlines
    entries = json.loads((options.build / "compile_commands.json").read_text(encoding="utf-8"))
    since = os.environ.get("CHORALE_TEST_SINCE")
    left = touched(entries, changed(since)) if since else alone(entries) if options.alone else not_built(entries)
    end = time.monotonic() + (600 if since else float("inf"))
    failed = skipped = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for entry, (status, said) in zip(left, pool.map(lambda entry: check(entry) if time.monotonic() < end else (None, ""), left)):
            if said:
                print(f"--- {entry['file']}:\n{said}", flush=True)
            skipped += status is None
            failed += status not in (0, None)
    total = len({path_of(one) for entry in entries for one in apart(entry)})
    print(f"{len(left) - skipped} of {total} files were only compiled, without making code: {failed} failed")
    if skipped:
        print(f"skipped: {skipped} more, since there was no time left")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
