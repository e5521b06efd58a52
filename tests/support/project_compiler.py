# SPDX-License-Identifier: Apache-2.0
"""The compiler and the flags of this build, read from its compile_commands.json.

Tests that compile something at test time use what the library itself is compiled with, so that a sanitizer, -Werror or
another compiler of the build reaches them too.
"""
import json
import os
import pathlib
import shlex
import subprocess

ALONE = {"-c", "-MD", "-fpch-preprocess", "-MQ", "-MF", "-o"}
# Precompiled headers are left out too, so that a file that is compiled has to include what it needs.
WITH_VALUE = {"-o", "-MQ", "-MF", "-include", "-include-pch"}


def compile_command(build, source="lib/calls/rc.cpp"):
    """The words of the command that compiles `source`, less its input and outputs, and the folder to run it in.

    Raises LookupError if the build does not compile that file.
    """
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    for entry in entries:
        path = os.path.normpath(os.path.join(entry["directory"], entry["file"]))
        if path.endswith(os.sep + source):
            return strip(shlex.split(entry["command"]), entry["file"]), entry["directory"]
    raise LookupError(f"{build}/compile_commands.json has no entry for {source}")


def precompile(command, folder, text, work):
    """The words that put `text`, compiled into the new folder `work`, before a source; none if it does not compile."""
    header = pathlib.Path(work) / "common.hpp"
    header.parent.mkdir(parents=True, exist_ok=True)
    header.write_text(text, encoding="utf-8")
    # Both compilers look for this name beside the header.
    done = subprocess.run([*command, "-x", "c++-header", str(header), "-o", f"{header}.gch"], cwd=folder, check=False,
                          capture_output=True)
    return ["-include", str(header)] if done.returncode == 0 else []


def strip(words, source):
    """The command without its source file, outputs, dependency files and compiler cache."""
    kept = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in WITH_VALUE:
            skip = True
        elif word not in ALONE and word != source and os.path.basename(word) not in ("ccache", "sccache"):
            kept.append(word)
    return kept
