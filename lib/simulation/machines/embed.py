#!/usr/bin/env python3
"""Writes machine files as a C++ source, so that they are found wherever the library lies. Usage: embed.py OUTPUT FILE..."""
import pathlib
import sys

output, *files = sys.argv[1:]
rows = [f'    {{"{pathlib.Path(file).stem}", R"machine({pathlib.Path(file).read_text(encoding="utf-8")})machine"}},'
        for file in sorted(files, key=lambda name: pathlib.Path(name).stem)]
pathlib.Path(output).write_text("\n".join([
    "// Made by embed.py.",
    '#include "simulation/machine/shipped.hpp"',
    "",
    "namespace chorale::simulation {",
    "",
    "std::span<const shipped_machine> shipped_machines() noexcept {",
    "  static constexpr shipped_machine all[] = {",
    *rows,
    "  };",
    "  return all;",
    "}",
    "",
    "}  // namespace chorale::simulation",
    ""]), encoding="utf-8")
