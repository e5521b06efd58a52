# SPDX-License-Identifier: Apache-2.0
"""Which algorithm is the fastest where, by a table to choose by (CHORALE_TUNING), as Markdown.

  tools/measure winners lib/model/tables/hdr-64core.json                             prints it
  tools/measure winners lib/model/tables/hdr-64core.json --into docs/simulation.md   puts it between its two marks there
  tools/measure winners lib/model/tables/hdr-64core.json --check docs/simulation.md  exit status 1 if what is there is another
"""
import argparse
import json
import pathlib
import re
import sys

from measuring import pages, process
from plots import results


def add_options(parser):
    """Adds the options of this subcommand."""
    parser.add_argument("table", type=pathlib.Path)
    parser.add_argument("--groups", type=groups,
                        help="the columns: numbers of ranks, or of places and ranks of each, as in 64x16 (default: those in FILE, else 8,64,512,4096,16384,65536)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--into", type=pathlib.Path, metavar="FILE")
    what.add_argument("--check", type=pathlib.Path, metavar="FILE")


def groups(text):
    """Numbers of ranks, or of places and ranks per place, separated by commas."""
    found = text.split(",")
    if not all(re.fullmatch("[1-9][0-9]*(x[1-9][0-9]*)?", one) for one in found):
        raise argparse.ArgumentTypeError(f"takes numbers of ranks, or of places and ranks of each, with commas between, not {text}")
    return found


def group_of(row):
    """The same for a row of the table."""
    return f"{row['places']}x{row['largest']}" if "places" in row else str(row["ranks"])


def title(group):
    """The number of ranks as 1,024, or of places and ranks per place as 64 × 16."""
    return " × ".join(f"{int(number):,}" for number in group.split("x"))


def groups_in(file):
    """The groups that are columns of the table in the file."""
    head = pages.split(file, "winners")[1].partition("\n")[0]
    return [one.strip().replace(",", "").replace(" × ", "x") for one in head.split("|")[3:-1]]


def winners(table, columns):
    """The lines of the Markdown table: the fastest algorithm, the first by name if several are equal."""
    fastest = {}
    for row in table["tuning"]:
        times = row["microseconds"]
        fastest[row["operation"], row["bytes"], group_of(row)] = min(sorted(times), key=times.get)
    operations = list(dict.fromkeys(row["operation"] for row in table["tuning"]))
    lines = [pages.head("operation", "size", *map(title, columns), words=2 + len(columns))]
    for operation in operations:
        for size in sorted({bytes_ for name, bytes_, _ in fastest if name == operation}):
            cells = [fastest.get((operation, size, group)) for group in columns]
            lines.append(pages.cells(operation, results.size_text(size) if size else "", *(f"`{cell}`" if cell else "" for cell in cells)))
    return "\n".join(lines) + "\n"


def run(chosen):
    """Prints, inserts or compares the table. @returns the exit status"""
    file = chosen.into or chosen.check
    columns = chosen.groups or (groups_in(file) if file else groups("8,64,512,4096,16384,65536"))
    try:
        made = winners(json.loads(chosen.table.read_text(encoding="utf-8")), columns)
    except (ValueError, KeyError) as e:
        raise process.Refused(f"{chosen.table} is no table to choose by: {e}") from e
    if chosen.into:
        pages.put(chosen.into, "winners", made)
    elif chosen.check and pages.split(chosen.check, "winners")[1] != made:
        print(f"tools/measure winners: the table in {chosen.check} is not that of {chosen.table}: "
              f"tools/measure winners {chosen.table} --into {chosen.check}", file=sys.stderr)
        return 1
    elif not chosen.check:
        print(made, end="")
    return 0
