#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a table to choose by, as JSON, in the words of built_in.hpp: table_rows.py OUTPUT TABLE"""
import json
import pathlib
import sys

SOURCE = """// Made {how}.
#include "model/built_in.hpp"

namespace chorale::model {{

std::string_view {function}() noexcept {{
  return R"(
{rows}
)";
}}

}}  // namespace chorale::model
"""


def line(row):
    """operation transport ranks[/places/largest] crowded bytes {algorithm microseconds}..., without spaces in names."""
    group = "/".join(str(row[of]) for of in ("ranks", "places", "largest") if of in row)
    times = (word for name, time in row["microseconds"].items() for word in (name.replace(", ", ","), time))
    return " ".join(str(word) for word in (row["operation"], row["transport"], group, int(row["crowded"]), row["bytes"], *times))


def source(how, function, rows):
    """The C++ source of a function that returns these rows; `how` it was made."""
    return SOURCE.format(how=how, function=function, rows="\n".join(map(line, rows)))


def main():
    """Writes the file."""
    output, table = map(pathlib.Path, sys.argv[1:])
    rows = json.loads(table.read_text(encoding="utf-8"))["tuning"]
    output.write_text(source(f"from {table.name} by table_rows.py", "simulated_rows", rows), encoding="utf-8")


if __name__ == "__main__":
    main()
