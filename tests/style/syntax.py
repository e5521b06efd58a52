#!/usr/bin/env python3
"""Compiles, without making code, each source file that a build knows of and has not built, once, with the build's flags.

So another compiler sees the whole tree, and with -Dwerror=true complains about all of it, although only what is run is
built. Usage: syntax.py BUILD. Prints what the compiler says; exit status 1 if a file does not compile.
"""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from project_compiler import strip  # noqa: E402


def not_built(entries):
    """An entry of compile_commands.json for each file that no target has an object file of."""
    built = {entry["file"] for entry in entries if os.path.exists(os.path.join(entry["directory"], entry["output"]))}
    left = {}
    for entry in entries:
        if entry["file"] not in built:
            left.setdefault(entry["file"], entry)
    return list(left.values())


def check(entry):
    """(status, diagnostics) of one source file."""
    command = [*strip(shlex.split(entry["command"]), entry["file"]), "-fsyntax-only", entry["file"]]
    done = subprocess.run(command, cwd=entry["directory"], text=True, capture_output=True, check=False)
    return done.returncode, done.stderr


def main():
    build = pathlib.Path(sys.argv[1])
    os.nice(5)  # tests that run beside this wait for each other
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    left = not_built(entries)
    total = len({entry["file"] for entry in entries})
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for entry, (status, said) in zip(left, pool.map(check, left)):
            if said:
                print(f"--- {entry['file']}:\n{said}", flush=True)
            failed += status != 0
    print(f"{len(left)} of {total} files are not built here and were only compiled: {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
