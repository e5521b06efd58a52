#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each call of a communicator that has a plan, and `split`, has a page in docs/calls, linked from docs/calls.md, with all forms
of the call, the usual sections, and an example that makes the call.

Usage: calls_test.py.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SECTIONS = ("| returns |", "**Errors.**", "**Cost.**", "See also:")
# Sections of calls with operands, or with two operands: the calls that lack them.
SECTIONS_OF_SOME = {"**Types.**": ("barrier", "split"), "**In place.**": ("barrier", "split", "broadcast"), "**Has to agree.**": ("barrier",)}
FORMS = ("", "i", "plan_")


def main():
    # Comments are removed, and so are short bodies in which one call makes another.
    header = re.sub(r"//.*|\{[^{}]*\}", ";", (ROOT / "include/chorale/communicator.hpp").read_text(encoding="utf-8"))
    overview = (ROOT / "docs/calls.md").read_text(encoding="utf-8")
    calls = sorted({"split", *re.findall(r"\bplan_(\w+)\(", header)})
    wrong = []
    for call in calls:
        page = ROOT / f"docs/calls/{call}.md"
        if not page.is_file():
            wrong.append(f"docs/calls/{call}.md: there is no such page")
            continue
        text = page.read_text(encoding="utf-8")
        code = "".join(re.findall(r"^```cpp$(.*?)^```$", text, re.MULTILINE | re.DOTALL))
        declared = {len(re.findall(rf"^    .*\b{form}\(", text, re.MULTILINE)) - len(re.findall(rf"\b{form}\((?!on\(\)|\*this)[^;{{]*[;{{]", header))
                    for form in (prefix + call for prefix in FORMS)}
        wanted = [*SECTIONS, *(part for part, without in SECTIONS_OF_SOME.items() if call not in without)]
        wrong += [f"{page.relative_to(ROOT)}: lacks {part}" for part in wanted if part not in text]
        if declared != {0}:
            wrong.append(f"{page.relative_to(ROOT)}: has not the forms of {call} that communicator.hpp declares")
        if f"comm.{call}(" not in code:
            wrong.append(f"{page.relative_to(ROOT)}: the example does not call {call}")
        if f"(calls/{call}.md)" not in overview:
            wrong.append(f"docs/calls.md: does not link to {page.relative_to(ROOT)}")
    wrong += [f"{page.relative_to(ROOT)}: there is no such call" for page in (ROOT / "docs/calls").glob("*.md") if page.stem not in calls]
    print(f"{len(calls)} calls")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
