#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that pages that list things are complete: the pages of the calls, of the errors and of the settings. Usage: lists_test.py"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SECTIONS = ("| returns |", "**Errors.**", "**Cost.**", "See also:")
# Sections of calls with operands, or with two operands: the calls that lack them.
SECTIONS_OF_SOME = {"**Types.**": ("barrier", "split"), "**In place.**": ("barrier", "split", "broadcast"), "**Has to agree.**": ("barrier",)}
FORMS = ("", "i", "plan_")
VARIABLE = re.compile(r"\bCHORALE_[A-Z_]*[A-Z]\b")


def calls_lack():
    """Each call of a communicator that has a plan, and `split`, has a page in docs/calls, linked from docs/calls.md, with all forms of the call, the usual
    sections, and an example that makes the call."""
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
    return wrong


def documented():
    """(name, message) of each code that has a heading."""
    text = (ROOT / "docs/guide/errors.md").read_text(encoding="utf-8")
    sections = re.split(r"^### ", text, flags=re.MULTILINE)[1:]
    for section in sections:
        for part in ("*What it means.*", "*What to do.*"):
            if part not in section:
                sys.exit(f"errors.md: a section lacks {part}: {section.splitlines()[0]}")
    return [re.match(r"`(\w+)`: (.*)", section).groups() for section in sections]


def enumerated():
    """(name, message) of each enumerator."""
    header = (ROOT / "include/chorale/core/error.hpp").read_text(encoding="utf-8")
    body = re.search(r"enum class errc \{(.*?)\};", header, re.DOTALL).group(1)
    names = re.findall(r"^  (\w+)(?: = \d+)?,", body, re.MULTILINE)
    source = (ROOT / "lib/core/error.cpp").read_text(encoding="utf-8")
    messages = dict(re.findall(r"case errc::(\w+):\s*return \"([^\"]*)\";", source))
    return [(name, messages.get(name, "(no message)")) for name in names]


def errors_lack():
    """docs/guide/errors.md has every `errc`, in its order and with its message, and no other."""
    page, library = documented(), enumerated()
    print(f"{len(library)} codes")
    return [] if library and page == library else [f"errors.md has\n  {page}\nand the library\n  {library}"]


def settings_lack():
    """docs/settings.md has each CHORALE_... variable that the guide names."""
    known = set(re.findall(r"^\| `(CHORALE_\w+)`", (ROOT / "docs/settings.md").read_text(encoding="utf-8"), re.MULTILINE))
    return (["docs/settings.md has no table"] if not known else []) + [
        f"{page.name} names {name}, which docs/settings.md has not" for page in sorted((ROOT / "docs/guide").glob("*.md"))
        for name in sorted(set(VARIABLE.findall(page.read_text(encoding="utf-8"))) - known)]


def main():
    if wrong := [*calls_lack(), *errors_lack(), *settings_lack()]:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
