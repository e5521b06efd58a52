"""The layout of the classes that installed headers define: sizes, alignments, where members and bases lie, virtual functions.

Programs hold objects of these classes and inline what works on them, so that none of it may change within a series of versions.
g++ names the classes, clang says how they lie. Of templates those instances are looked at that the headers themselves use, and those
of INSTANCES; a class within a function is not.
"""
import os
import re
import subprocess

# What programs name themselves, of templates.
INSTANCES = ["chorale::communicator<>", "chorale::window<double, chorale::communicator<>>"]
RECORD = re.compile(r"^\*\*\* Dumping AST Record Layout\n((?:.+\n)+)", re.MULTILINE)
ROW = re.compile(r"^ *(\d+(?::[\d-]+)?) \| ( *)(.+?) *$", re.MULTILINE)
SIZES = re.compile(r"\[sizeof=(\d+),.* align=(\d+)")
KEYWORD = re.compile(r"\b(?:class|struct|union|enum) ")
VTABLE = re.compile(r"^Vtable for (chorale::[\w:]+)\n.*entries\n((?:\d.*\n)+)", re.MULTILINE)
HEADER = """# Written by `tools/abi BUILD --update`: size/alignment of each class of the installed headers, the offsets of its members and bases, and its
# virtual functions. CONTRIBUTING.md says what a change of it means for programs.
"""


def compiled(compiler, folder, name, text, *options):
    """What a compiler prints about a source that it only checks."""
    source = folder / name
    source.write_text(text, encoding="utf-8")
    return subprocess.run([compiler, "-std=c++20", "-fsyntax-only", *options, str(source)], check=True, text=True, stdout=subprocess.PIPE,
                          env=dict(os.environ, CCACHE_DISABLE="1")).stdout


def virtual_functions(classes):
    """{class: its virtual functions in their order}, of g++'s list of classes; pure ones have no name there."""
    found = {}
    for name, entries in VTABLE.findall(classes):
        called = re.findall(r"\(int \(\*\)\(\.\.\.\)\)(?:\S*::)?([~\w]+)$", entries, re.MULTILINE)
        found[name] = ["pure" if function == "__cxa_pure_virtual" else function for function in called if function != "0"]
    return found


def member(text):
    """What a row of clang's says about a member or a base: type and name, without keywords."""
    text = KEYWORD.sub("", text).replace(" (empty)", "")
    if "(anonymous" in text or "(unnamed" in text:
        return "(unnamed)"
    if text.endswith("vtable pointer)"):
        return "virtual functions"
    if text.endswith("base)"):
        return "base " + text.rsplit(" (", 1)[0]
    return text


def laid_out(dump):
    """{class: (size/alignment, [(member, offset)])} of clang's record layouts."""
    found = {}
    for block in RECORD.findall(dump):
        rows = ROW.findall(block)
        name = KEYWORD.sub("", rows[0][2]).removesuffix(" (empty)")
        if name.startswith("chorale::") and "(" not in name:
            members = [(member(text), offset) for offset, indent, text in rows[1:] if len(indent) == 2]
            found[name] = "/".join(SIZES.search(block).groups()), members
    return found


def of_headers(include, headers, folder):
    """{class: (size/alignment, [(member, offset)], [virtual function])}."""
    includes = "".join(f"#include <{header}>\n" for header in headers)
    listed = folder / "classes.txt"
    compiled("g++", folder, "names.cpp", includes, f"-I{include}", f"-fdump-lang-class={listed}")
    classes = listed.read_text(encoding="utf-8")
    names = sorted({name for name in re.findall(r"^Class (chorale::.+)$", classes, re.MULTILINE) if not re.search("[<({]", name)})
    asked = "".join(f"static_assert(sizeof({name}) > 0);\n" for name in names + INSTANCES)
    dump = compiled("clang++", folder, "layouts.cpp", includes + asked, f"-I{include}", "-fno-access-control", "-Xclang", "-fdump-record-layouts")
    functions = virtual_functions(classes)
    return {name: (*layout, functions.get(name, [])) for name, layout in sorted(laid_out(dump).items())}


def write(path, layouts):
    """Writes the record, a line for each class."""
    lines = []
    for name, (size, members, functions) in layouts.items():
        line = f"{name}: {size}" + "".join(f"; {offset} {what}" for what, offset in members)
        lines.append(line + (f"; virtual {' '.join(functions)}" if functions else "") + "\n")
    path.write_text(HEADER + "".join(lines), encoding="utf-8")


def read(path):
    """What `write` wrote."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else []:
        if line.startswith("#"):
            continue
        name, rest = re.split(r"(?<!:):(?!:) ", line, maxsplit=1)
        size, *parts = rest.split("; ")
        functions = parts.pop().split()[1:] if parts and parts[-1].startswith("virtual ") else []
        members = [tuple(reversed(part.split(" ", 1))) for part in parts]
        found[name] = size, members, functions
    return found


def difference(before, now):
    """How a class has changed, in words."""
    said = []
    if before[0] != now[0]:
        said.append("{} bytes aligned to {}, were {} aligned to {}".format(*now[0].split("/"), *before[0].split("/")))
    # By name; bases, and what has no name, by all that is said of them.
    was, there = ({what if what.startswith("base ") else what.split()[-1]: (what, place) for what, place in members} for members in (before[1], now[1]))
    said += [f"{what} is new, at {place}" for name, (what, place) in there.items() if name not in was]
    said += [f"{what} is gone, from {place}" for name, (what, place) in was.items() if name not in there]
    for name in [name for name in there if name in was]:
        (old, from_place), (new, place) = was[name], there[name]
        said += [f"{name} lies at {place}, lay at {from_place}"] if place != from_place else []
        said += [f"{old} is now {new}"] if old != new else []
    if before[2] != now[2]:
        said.append(f"its virtual functions are {', '.join(now[2]) or 'none'}; were {', '.join(before[2]) or 'none'}")
    if not said and before != now:
        said.append("its members have another order")
    return "; ".join(said[:6]) + ("; ..." if len(said) > 6 else "")


def changes(recorded, found):
    """Lines about what differs. Which instances of templates there are is for the compilers to choose; those of both are compared."""
    said = []
    for name in sorted(recorded.keys() | found.keys()):
        if name not in recorded or name not in found:
            if "<" not in name:
                said.append(f"{name} is {'new' if name in found else 'gone, or defined in no installed header any more'}")
        elif recorded[name] != found[name]:
            said.append(f"{name} is laid out differently: {difference(recorded[name], found[name])}")
    return said
