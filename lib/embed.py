#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes text files as a C++ source, so that they are found wherever the library lies.

Usage: embed.py OUTPUT HEADER NAMESPACE TYPE FUNCTION FILE...: FUNCTION() returns a span of TYPE{name, text}, which HEADER declares in NAMESPACE.
"""
import pathlib
import sys

output, header, namespace, row, function, *files = sys.argv[1:]
rows = [f'    {{"{pathlib.Path(file).stem}", R"text({pathlib.Path(file).read_text(encoding="utf-8")})text"}},'
        for file in sorted(files, key=lambda name: pathlib.Path(name).stem)]
pathlib.Path(output).write_text("\n".join([
    "// Made by embed.py.",
    f'#include "{header}"',
    "",
    f"namespace {namespace} {{",
    "",
    f"std::span<const {row}> {function}() noexcept {{",
    f"  static constexpr {row} all[] = {{",
    *rows,
    "  };",
    "  return all;",
    "}",
    "",
    f"}}  // namespace {namespace}",
    ""]), encoding="utf-8")
