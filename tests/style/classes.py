#!/usr/bin/env python3
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
NO_DATA = re.compile(r"(?:\[\[[^\]]*\]\]\s*)*(using|typedef|friend|static|template|enum|static_assert|class|struct|union|requires|consteval|extern)\b")


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


def names(statement):
    """How many names a declaration of data declares: commas outside of all brackets, and one."""
    depth = count = 0
    for place, letter in enumerate(statement):
        if letter in "<([{":
            depth += 1
        elif letter in ")]}" or (letter == ">" and statement[place - 1] != "-"):
            depth -= 1
        elif letter == "=" and depth == 0:
            rest = statement[place:]
            return count + 1 + (len(re.findall(r",\s*\w+\s*=", rest)) if "(" not in rest else 0)
        elif letter == "," and depth == 0:
            count += 1
    return count + 1


def is_function(statement):
    """Whether a declaration has a list of parameters: a round bracket behind a name, outside of <>, before any `=` or `{`."""
    if re.search(r"\boperator\b", statement):
        return True
    depth = 0
    for place, letter in enumerate(statement):
        if letter == "<":
            depth += 1
        elif letter == ">" and statement[place - 1] != "-":
            depth -= 1
        elif depth == 0 and letter in "={":
            return False
        elif depth == 0 and letter == "(":
            before = statement[:place].rstrip()
            if before.endswith(("alignas", "decltype", "noexcept")):
                return is_function(statement[:place] + " " * (closing(statement, place) + 1 - place) + statement[closing(statement, place) + 1:])
            # `int (*function)(int)` is data.
            return not statement[place + 1:].lstrip().startswith(("*", "&"))
    return False


def members(body):
    """How many data members a class has whose body this is (what stands between its braces)."""
    total = 0
    place = 0
    begin = 0
    while place < len(body):
        letter = body[place]
        if letter == "(" or letter == "[":
            place = closing(body, place)
        elif letter == "{":
            head = declaration(body[begin:place])
            place = closing(body, place)
            if not head or is_function(head):
                # Behind the braces of one member in a constructor's list come other members, and the body.
                while body[place + 1:].lstrip()[:1] in (",", "{"):
                    place = closing(body, re.compile(r"[{(]").search(body, place + 1).start())
                begin = place + 1
            elif re.match(r"(struct|union|class)\b", head) and body[place + 1:].lstrip()[:1] != ";":
                begin = place + 1  # `struct {...} name;`
        elif letter == ";":
            statement = declaration(body[begin:place])
            if statement and not NO_DATA.match(statement) and not is_function(statement):
                total += names(statement)
            begin = place + 1
        place += 1
    return total


def declaration(text):
    """A statement without the access specifiers before it."""
    text = text.strip()
    while True:
        found = re.match(r"(public|protected|private)\s*:(?!:)\s*", text)
        if not found:
            return text
        text = text[found.end():]


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
