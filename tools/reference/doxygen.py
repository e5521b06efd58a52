# SPDX-License-Identifier: Apache-2.0
"""Doxygen's pages of the headers, and its warnings about their comments.

Doxygen reads a copy of the headers, in which names with the same meaning everywhere get the description of their convention: Doxygen's
warnings locate the undocumented names, and `conventions.meaning` describes them.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree

from . import conventions, headers

SETTINGS = {
    "PROJECT_NAME": "Chorale", "QUIET": "YES", "GENERATE_LATEX": "NO", "JAVADOC_AUTOBRIEF": "YES", "HAVE_DOT": "NO", "VERBATIM_HEADERS": "NO",
    "EXCLUDE_SYMBOLS": "chorale::calls chorale::calls::* chorale::detail chorale::*::detail *::detail::* detail std chorale::transport::*_parts chorale::transport::rc_kind "
                       "chorale::transport::rc_send_receive_kind",
    "WARN_IF_UNDOCUMENTED": "YES", "WARN_IF_INCOMPLETE_DOC": "NO", "SORT_MEMBER_DOCS": "NO", "MACRO_EXPANSION": "YES", "PREDEFINED": "MPI_VERSION=3", "HIDE_FRIEND_COMPOUNDS": "YES",
    "SHOW_USED_FILES": "NO", "GENERATE_TREEVIEW": "YES",
}
# Calls of a communicator that belong to another operation than their name suggests.
BELONGS = {"exscan": "scan"}
STYLE = pathlib.Path("/usr/share/doxygen-awesome-css/doxygen-awesome.css")
LOOKS = pathlib.Path(__file__).resolve().parent.parent / "website/reference.css"
UNDESCRIBED = re.compile(r"(?P<file>[^:]+):(?P<line>\d+): warning: Member (?P<name>operator(?:\(\)|\[\]|[^\s\w(]+)|[~\w]+)(?P<rest>.*) \((?P<kind>\w+)\) of \w+ (?P<scope>.+) is not documented\.")
# Ignored warnings: about classes (`undescribed` finds more), a specialized template of namespace std, files that are not read, and runs without output.
BESIDES = ("warning: Compound", "scope for class std::", "Include graph", "No output formats selected")


def run(place, **settings):
    """@returns the lines of Doxygen's output for the headers below a folder. Exits if there is no Doxygen"""
    command = shutil.which("doxygen")
    if command is None:
        sys.exit("tools/docs: there is no doxygen; install it: apt-get install doxygen (tools/install-dependencies --ci does)")
    given = SETTINGS | {"INPUT": place, "RECURSIVE": "YES", "STRIP_FROM_PATH": place, "STRIP_FROM_INC_PATH": place} | settings
    told = "".join(f'{name} = "{value}"\n' if isinstance(value, pathlib.Path) else f"{name} = {value}\n" for name, value in given.items())
    done = subprocess.run([command, "-"], input=told, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"tools/docs: doxygen ended with status {done.returncode}\n{done.stdout}")
    return [line for line in dict.fromkeys(done.stdout.splitlines()) if line and not any(part in line for part in BESIDES)]


def top_of(lines, number):
    """The first line of the declaration whose name is in this line: the head of its template, if any, since Doxygen overlooks comments after the
    braces of a requires-expression."""
    begin = number
    while re.match(r"\s*(requires\b(?!.*\bstruct\b)|&&|\{ .*;$|\}\s*$)", lines[begin - 1]):
        begin -= 1
    return begin - 1 if re.match(r"\s*template\b", lines[begin - 1]) else number


def with_pages(header):
    """A header in which the comment of each call ends with a link to its page."""
    return re.sub(r"(?<=\w|[.,;:)`])(?=\n(?:  template .*\n|           .*\n)?  void (\w+)\()", lambda found: conventions.page_of_call(found[1]), header)


def describe(place):
    """Copies the headers to a folder, with the descriptions by convention."""
    for file in headers.described():
        to = place / file.relative_to(headers.INCLUDE)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text("/** @file */ " + with_pages(file.read_text(encoding="utf-8")), encoding="utf-8")
    lines = {}
    for remark in run(place, GENERATE_HTML="NO"):
        if found := UNDESCRIBED.fullmatch(remark):
            file, number = pathlib.Path(found["file"]), int(found["line"]) - 1
            text = lines.setdefault(file, file.read_text(encoding="utf-8").splitlines())
            header = file.relative_to(place).as_posix()
            begin = top_of(text, number)
            if not text[begin].startswith("/**") and (said := conventions.meaning(found, header, text)):
                text[begin] = f"/** {said} */ {text[begin]}"
    for file, text in lines.items():
        file.write_text("\n".join(text) + "\n", encoding="utf-8")


def calls_of_operations():
    """({operation: its calls}, the calls that belong to no operation)."""
    operations = {path.name: [] for path in sorted((headers.INCLUDE / "chorale/algorithm").iterdir()) if path.is_dir()}
    names = dict.fromkeys(re.findall(r"\w+(?=\()", (headers.INCLUDE / "chorale/communicator.hpp").read_text(encoding="utf-8")))
    rest = []
    for name in (name for name in names if f"i{name}" in names and f"plan_{name}" in names and name != "call"):
        operations.get(BELONGS.get(name, name if name in operations else name.removesuffix("v")), rest).append(name)
    return {operation: calls for operation, calls in operations.items() if calls}, rest


def undescribed(folder):
    """Undocumented enumerators, classes and concepts, from Doxygen's XML output: Doxygen 1.9 does not warn about all of them."""
    for file in sorted(folder.glob("*.xml")):
        for one in tree.parse(file).getroot().iter():
            public = one.get("kind") in ("class", "struct", "concept") and one.tag == "compounddef" and one.get("prot") not in ("private", "protected")
            for what in one.findall("enumvalue") + [one] * public:
                text = (part.itertext() for kind in ("briefdescription", "detaileddescription") for part in what.findall(kind))
                if not "".join(word for words in text for word in words).strip():
                    where, name = one.find("location"), what.findtext("compoundname") or what.findtext("name")
                    yield f"include/{where.get('file')}:{where.get('line')}: {'Compound' if what is one else 'Enumerator'} {name} is not documented."


def addresses_of(tags, place):
    """{name of a header, a class, a namespace or a public member: address} from Doxygen's tag file; for overloads, the first."""
    compounds = {((one.findtext("path") or "") + one.findtext("name")).removeprefix(place): one for one in tags.findall("compound")}
    found = {name: compound.findtext("filename") for name, compound in compounds.items()}
    for name, compound in compounds.items():
        for member in compound.findall("member") if compound.get("kind") != "file" else []:
            inside = f"{name}::{member.findtext('name')}"
            found.setdefault(inside, f"{member.findtext('anchorfile')}#{member.findtext('anchor')}")
            for value in member.findall("enumvalue"):
                found.setdefault(f"{inside}::{value.text}", f"{value.get('file')}#{value.get('anchor')}")
    return found


def make(folder=None):
    """Writes Doxygen's pages to a folder, if given. @returns the errors in the comments, and {name: address} of what they describe"""
    with tempfile.TemporaryDirectory(prefix="chorale-doxygen-") as temporary:
        place = pathlib.Path(temporary).resolve() / "include"
        describe(place)
        operations, rest = calls_of_operations()
        (place / "operations.dox").write_text("".join(
            f"/** @namespace chorale::{operation}\nAlgorithms of " + ", ".join(f'@ref chorale::communicator::{call} "{call}"' for call in calls) +
            ", calls of a communicator, which takes them as a template argument. */\n" for operation, calls in operations.items()), encoding="utf-8")
        wrong = [line.replace(f"{place}{os.sep}", "include/") for line in run(place, GENERATE_HTML="NO")]
        wrong += [f"include/chorale/communicator.hpp: the call {name} is of no operation (BELONGS in tools/reference/doxygen.py)" for name in rest]
        layout, tags = place.parent / "layout.xml", place.parent / "tags"
        subprocess.run(["doxygen", "-l", layout], check=True, stdout=subprocess.DEVNULL)
        layout.write_text(re.sub('<tab type="mainpage"[^>]*>', '<tab type="user" url="../index.html" title="Guide and search"/>',
                                 layout.read_text(encoding="utf-8")), encoding="utf-8")
        (folder or place.parent).mkdir(parents=True, exist_ok=True)
        run(place, OUTPUT_DIRECTORY=folder or place.parent, HTML_OUTPUT=".", GENERATE_HTML="YES" if folder else "NO", XML_OUTPUT=place.parent / "xml",
            GENERATE_XML="YES", XML_PROGRAMLISTING="NO", LAYOUT_FILE=layout, GENERATE_TAGFILE=tags, EXTRACT_ALL="YES", WARNINGS="NO",
            HTML_EXTRA_STYLESHEET=f'"{STYLE}" "{LOOKS}"' if STYLE.is_file() else "")
        wrong += dict.fromkeys(undescribed(place.parent / "xml"))
        return wrong, addresses_of(tree.parse(tags).getroot(), f"{place}{os.sep}")
