#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no class of transport has more than 15 data members. Usage: classes.py ROOT

A class that needs more is several classes. The sources are read without a compiler, as clang-format leaves them: of the statements in a class's
body, what is neither a function nor a type, an alias, a static or a friend is a data member. Prints each class with too many; exit status 1 if
there is one.
"""
import re

from tree import run, sources

MOST = 15
FOLDERS = ("include/chorale/transport", "lib/transport")
BLANKED = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|(?<![0-9a-fA-FxX])\'(?:[^\'\\\n]|\\.)+\'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', re.S | re.M)
HEAD = re.compile(r"(?:^|[\s;{}>:])(?:class|struct|union)\s+(?:\[\[[^\]]*\]\]\s*|alignas\([^)]*\)\s*)*(\w+(?:::\w+)*)(?:<[^<>;{}]*>)?(?:\s+final)?\s*(?::(?!:)[^;{}()=]*)?$")
NO_DATA = re.compile(r"(using|typedef|friend|static|inline static|template|enum|static_assert|class|struct|union|requires|consteval|extern)\b|$")
# What stands for all that is between a pair of brackets.
BRACES, ROUND = "\x01", "\x02"


def blank(text):
    """The text without comments, strings, characters and the preprocessor's lines; as long, so that places stay."""
    return BLANKED.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def closing(text, start):
    """The place of the bracket that closes the one at `start`."""
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
    """The text with what `pattern` finds replaced, until it finds nothing."""
    while re.search(pattern, text):
        text = re.sub(pattern, put, text)
    return text


def statements(body):
    """The statements of a class's body, with BRACES and ROUND for what is in brackets, less access specifiers, attributes, bounds and template arguments."""
    flat = settled(r"\([^(){}]*\)|\{[^(){}]*\}", lambda found: ROUND if found.group()[0] == "(" else BRACES, body)
    flat = re.sub(rf"\[+[^\[\]]*\]+|\b(public|protected|private)\s*:(?!:)|\b(alignas|decltype|noexcept)\s*{ROUND}", " ", flat)
    flat = settled(r"<[^<>;]*>", " ", re.sub(rf"->|\boperator\s*[^\s\w{ROUND}]+", " operator ", flat))
    # Behind the braces of one member in a constructor's list come other members, and the body; behind those of data what ends it.
    return [one.strip() for one in re.split(rf";|(?<={BRACES})(?=\s*[\w~])", flat)]


def members(body):
    """How many data members a class has whose body this is (what stands between its braces)."""
    total = 0
    for statement in statements(body):
        declared = re.split(rf"[={BRACES}]", statement)[0]
        # `int (*function)(int)` is data.
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
