#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no class of transport has more than 15 data members. Usage: classes.py ROOT

A class that needs more should be split. The sources are parsed without a compiler, in the layout of clang-format: in the body of a class, every
statement is a data member unless it is a function, a type, an alias, a static member or a friend. Prints each class with too many; exit
status 1 if there is one.
"""
import re

from tree import run, sources

MOST = 15
FOLDERS = ("include/chorale/transport", "lib/transport")
BLANKED = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|(?<![0-9a-fA-FxX])\'(?:[^\'\\\n]|\\.)+\'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', re.S | re.M)
HEAD = re.compile(r"(?:^|[\s;{}>:])(?:class|struct|union)\s+(?:\[\[[^\]]*\]\]\s*|alignas\([^)]*\)\s*)*(\w+(?:::\w+)*)(?:<[^<>;{}]*>)?(?:\s+final)?\s*(?::(?!:)[^;{}()=]*)?$")
NO_DATA = re.compile(r"(using|typedef|friend|static|inline static|template|enum|static_assert|class|struct|union|requires|consteval|extern)\b|$")
# Placeholders for the text within a pair of brackets.
BRACES, ROUND = "\x01", "\x02"


def blank(text):
    """The text with comments, strings, characters and preprocessor lines replaced by blanks, so that positions do not change."""
    return BLANKED.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def closing(text, start):
    """The position of the bracket that closes the one at `start`."""
    depth = 0
    for place in range(start, len(text)):
        if text[place] in "{([":
            depth += 1
        elif text[place] in "})]":
            depth -= 1
            if depth == 0:
                return place
    return len(text)


def settled(pattern, put, text):
    """Replaces the matches of `pattern` until there are none."""
    while re.search(pattern, text):
        text = re.sub(pattern, put, text)
    return text


def statements(body):
    """The statements of a class body without access specifiers, attributes, bounds and template arguments; BRACES and ROUND replace bracketed text."""
    flat = settled(r"\([^(){}]*\)|\{[^(){}]*\}", lambda found: ROUND if found.group()[0] == "(" else BRACES, body)
    flat = re.sub(rf"\[+[^\[\]]*\]+|\b(public|protected|private)\s*:(?!:)|\b(alignas|decltype|noexcept)\s*{ROUND}", " ", flat)
    flat = settled(r"<[^<>;]*>", " ", re.sub(rf"->|\boperator\s*[^\s\w{ROUND}]+", " operator ", flat))
    # The braces of a member initializer may be followed by other members or the body; those of a data member by its end.
    return [one.strip() for one in re.split(rf";|(?<={BRACES})(?=\s*[\w~])", flat)]


def members(body):
    """The number of data members of a class with this body (the text between its braces)."""
    total = 0
    for statement in statements(body):
        declared = re.split(rf"[={BRACES}]", statement)[0]
        # `int (*function)(int)` is a data member.
        is_function = re.search(r"\boperator\b", declared) or ROUND in declared.replace(2 * ROUND, "")
        if not NO_DATA.match(statement) and not is_function:
            total += statement.count(",") + 1
    return total


def classes(text):
    """(line, name, data members) of each class that a source defines."""
    text = blank(text)
    for brace in re.finditer(r"\{", text):
        start = max(text.rfind(";", 0, brace.start()), text.rfind("{", 0, brace.start()), text.rfind("}", 0, brace.start())) + 1
        found = HEAD.search(text[start:brace.start()].rstrip())
        if found and not re.search(r"\benum\s+(class|struct)\b", text[start:brace.start()]):
            yield text.count("\n", 0, brace.start()) + 1, found.group(1), members(text[brace.end():closing(text, brace.start())])


def offences(root):
    """Every class with too many data members, as lines of text."""
    return [f"{file}:{line}: {name} has {count} data members, more than {MOST}: it is more than one thing"
            for file in sources(root, *FOLDERS)
            for line, name, count in classes((root / file).read_text(encoding="utf-8")) if count > MOST]


if __name__ == "__main__":
    run(offences, lambda root: sources(root, *FOLDERS), "files of transport")
