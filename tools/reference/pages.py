"""The pages of the reference, as Markdown: one an operation and class, and an index by header."""
import itertools
import os
import re

PLACE = "reference"
INDEX = f"{PLACE}/index.md"
# Calls of a communicator that belong to another operation's page than their name says.
BELONGS = {"exscan": "scan", "send_receive": "exchange"}
AREAS = (("chorale/", "What programs begin with: communicators, requests, plans, windows"), ("chorale/core/", "Errors, settings, elements, operators"),
         ("chorale/bootstrap/", "Bootstraps"), ("chorale/transport/", "Transports and their concepts"), ("chorale/algorithm/", "Algorithms"),
         ("chorale/topology/", "Topologies: rank arithmetic"), ("chorale/model/", "Tuning and resources"), ("chorale/bench/", "Measuring"),
         ("chorale/simulation/", "Virtual time"), ("chorale/simulation/machine/", "Machines to simulate"), ("chorale/verbs/", "The software device"))


def slug(name):
    """A name as part of an address."""
    return re.sub(r"[^\w.-]", lambda found: f"-{ord(found.group()):x}", name.replace("::", "."))


def short(name):
    return name.removeprefix("chorale::")


def anchor_of(header):
    return re.sub(r"\W+", "-", header)


def first_sentence(text):
    """That of a description, in one line, without links."""
    line = re.sub(r"\[([^\]]*)\]\(ref:[^)]*\)", r"\1", text.split("\n", 1)[0])
    found = re.match(r"(.*?[.!?])(?=\s+[A-Z`*\[(]|$)", line)
    return found.group(1) if found else line


class Reference:
    """All pages: `pages` maps their places in the site's sources to their texts."""

    def __init__(self, compounds):
        self.compounds = {compound.name: compound for compound in compounds}
        self.targets = {}
        self.pages = {}
        self.headers = {}
        self.operations = {compound.name.split("::")[1] for compound in compounds if compound.kind == "struct" and compound.name.count("::") == 2
                           and any(one.name == "implements" for one in compound.members)}
        for compound in compounds:
            page = self.page_of(compound)
            self.targets[compound.refid] = page if self.owner(compound) is compound else f"{page}#{slug(compound.name)}"
            for one in compound.members:
                for entity in (one, *one.members):
                    self.targets[entity.refid] = f"{page}#{self.anchor(compound, entity)}"
        self.make()

    def owner(self, compound):
        """The compound on whose page this one stands: a nested class, or a specialization, on that of its class."""
        name = re.sub(r"<.*", "", compound.name).strip()
        outer = name.rpartition("::")[0]
        if outer in self.compounds and self.compounds[outer].kind in ("class", "struct"):
            return self.owner(self.compounds[outer])
        return self.compounds.get(name, compound)

    def page_of(self, compound):
        owner = self.owner(compound)
        if owner.kind == "namespace" and short(owner.name) in self.operations:
            return f"{PLACE}/operation.{short(owner.name)}.md"
        return f"{PLACE}/{'namespace.' if owner.kind == 'namespace' else ''}{slug(short(owner.name))}.md"

    def anchor(self, compound, entity):
        inside = entity.name if self.owner(compound) is compound else f"{compound.name}::{entity.name}"
        return slug(inside)

    def resolved(self, text, page):
        """The text with links relative to its page; what means nothing that is described stays as text."""
        def one(found):
            target = self.targets.get(found.group(2))
            if target is None:
                return found.group(1)
            place, _, anchor = target.partition("#")
            where = "" if place == page else os.path.relpath(place, os.path.dirname(page))
            return f"[{found.group(1)}]({where}{'#' + anchor if anchor else ''})"
        return re.sub(r"\[((?:[^\[\]]|\\\]|\\\[)*)\]\(ref:([^)]*)\)", one, text)

    def to(self, entity, shown, page):
        return self.resolved(f"[{shown}](ref:{entity.refid})", page)

    # Parts of pages.
    def group(self, compound, members, level):
        """Members of one name: each description below the declarations that it is for."""
        yield f'<a id="{self.anchor(compound, members[0])}"></a>'
        yield f"{level} `{members[0].name}`"
        said = []
        for index, one in enumerate(members):
            said.append(one.declaration + (";" if one.kind != "enum" else ""))
            following = members[index + 1] if index + 1 < len(members) else None
            if following and (following.text in ("–", "") or following.text == one.text):
                following.text = one.text if following.text in ("–", "") else following.text
                continue
            yield "```cpp\n" + "\n".join(said) + "\n```"
            said = []
            if one.text and one.text != "–":
                yield one.text
            for value in one.members:
                yield f'* <a id="{self.anchor(compound, value)}"></a>`{value.name}`: ' + re.sub(r"\s+", " ", value.text)

    def body(self, compound, level):
        """Description and members of a compound."""
        yield f"```cpp\n#include <{compound.header}>\n\n{compound.declaration};\n```"
        if compound.text:
            yield compound.text
        by_name = {}
        for one in compound.members:
            by_name.setdefault(one.name, []).append(one)
        for members in by_name.values():
            yield from self.group(compound, members, level)

    def write(self, page, blocks):
        self.pages[page] = self.resolved("\n\n".join(blocks), page) + "\n"

    def within(self, owner):
        """The compounds on the page of another one."""
        return [one for one in self.compounds.values() if one is not owner and self.owner(one) is owner]

    def make(self):
        for compound in self.compounds.values():
            if self.owner(compound) is not compound:
                continue
            page = self.page_of(compound)
            if compound.kind == "namespace":
                operation = short(compound.name)
                self.write(page, self.operation(operation, compound, page) if operation in self.operations else self.namespace(compound, page))
                continue
            self.headers.setdefault(compound.header, []).append((compound.line, compound))
            blocks = [f"# {short(compound.name)}", *self.body(compound, "##")]
            for inner in sorted(self.within(compound), key=lambda one: (one.header, one.line)):
                blocks += [f'<a id="{slug(inner.name)}"></a>', f"## {inner.kind} `{short(inner.name)}`", *self.body(inner, "###")]
            self.write(page, blocks)
        for compound in self.compounds.values():
            if compound.kind == "namespace":
                for one in compound.members:
                    self.headers.setdefault(one.header, []).append((one.line, one))
        self.write(INDEX, self.index())
        self.pages = {page: self.with_headers(text, page) for page, text in self.pages.items()}

    def listed(self, entities, page):
        """A list of compounds or members with their first sentences."""
        lines = []
        for one in entities:
            name = short(one.qualified)
            line = f"* {self.to(one, f'`{name}`', page)}"
            if f"\n{line}: " not in "\n" + "\n".join(lines) and line not in lines:
                lines.append(line + (f": {first_sentence(one.text)}" if one.text not in ("", "–") else ""))
        return "\n".join(lines)

    def directly(self, namespace):
        """Classes and concepts of a namespace."""
        return sorted((one for one in self.compounds.values() if one.kind != "namespace" and self.owner(one) is one
                       and one.name.rpartition("::")[0] == namespace.name), key=lambda one: one.name)

    def names(self, compound):
        """Functions, variables, types of a namespace."""
        by_name = {}
        for one in compound.members:
            by_name.setdefault(one.name, []).append(one)
        for members in by_name.values():
            yield from self.group(compound, members, "##")
            yield f"In `<{members[0].header}>`."

    def namespace(self, compound, page):
        yield f"# Namespace {compound.name}"
        if compound.text:
            yield compound.text
        yield self.listed(self.directly(compound), page)
        yield from self.names(compound)

    def calls(self, operation):
        """The calls of a communicator for an operation, their names in order, each with its forms."""
        communicator = self.compounds["chorale::communicator"]
        names = [one.name for one in communicator.members]
        calls = [name for name in dict.fromkeys(names) if f"i{name}" in names]
        for name in calls:
            if BELONGS.get(name, name if name in self.operations else name.removesuffix("v")) == operation:
                yield [one for one in communicator.members if one.name in (name, f"i{name}", f"plan_{name}")]

    def operation(self, operation, compound, page):
        communicator = self.compounds["chorale::communicator"]
        yield f"# Operation {operation}"
        if compound.text:
            yield compound.text
        yield "Calls of a " + self.to(communicator, "`communicator`", page) + ", whose page says what buffers are, and what all calls have in common:"
        for forms in self.calls(operation):
            for name, members in itertools.groupby(sorted(forms, key=lambda one: (one.name != forms[0].name, one.name)), key=lambda one: one.name):
                yield from self.group(communicator, [one for one in members if one.name == name], "##" if name == forms[0].name else "###")
        algorithms = [one for one in self.directly(compound) if any(member.name == "implements" for member in one.members) or "struct" == one.kind]
        yield "## Algorithms"
        yield "Each is a type that a communicator takes as a template argument."
        yield self.listed(algorithms, page)
        others = [one for one in self.directly(compound) if one not in algorithms]
        if others or compound.members:
            yield "## Parts of algorithms"
            if others:
                yield self.listed(others, page)
            yield from self.names(compound)

    def index(self):
        yield "# Reference"
        yield ("Made from the comments of the headers. A page for each operation and class; below, everything by header. A comment says shapes, units, "
               "errors, thread safety and the source; the [glossary](../glossary.md) has the words. Names in a namespace `detail` are not for programs.")
        yield "## Operations"
        rows = ["| operation | calls | algorithms |", "|---|---|---|"]
        for operation in sorted(self.operations):
            namespace = self.compounds[f"chorale::{operation}"]
            calls = ", ".join(f"`{forms[0].name}`" for forms in self.calls(operation))
            algorithms = ", ".join(self.to(one, f"`{one.name.rpartition('::')[2]}`", INDEX) for one in self.directly(namespace)
                                   if one.kind == "struct" and not one.name.rpartition("::")[2].startswith("basic_"))
            rows.append(f"| {self.to(namespace, f'`{operation}`', INDEX)} | {calls} | {algorithms} |")
        yield "\n".join(rows)
        for area, title in AREAS:
            there = [header for header in sorted(self.headers) if area_of(header) == area]
            if there:
                yield f"## {title}"
            for header in there:
                yield f'<a id="{anchor_of(header)}"></a>'
                yield f"### `<{header}>`"
                yield self.listed([one for _, one in sorted(self.headers[header], key=lambda entry: entry[0])], INDEX)

    def address_of(self, header):
        """Where the index lists a header (`chorale/window.hpp`), or None."""
        return f"{INDEX}#{anchor_of(header)}" if header in self.headers else None

    def with_headers(self, text, page):
        """The text of a page, in which names of headers in prose lead to where the index lists them."""
        def one(found):
            address = self.address_of(f"chorale/{found.group(1)}")
            return f"[{found.group()}]({os.path.relpath(address, os.path.dirname(page) or '.')})" if address else found.group()
        parts = FENCED.split(text)
        parts[::2] = [HEADER.sub(one, part) for part in parts[::2]]
        return "".join(parts)

    def navigation(self):
        """Titles and pages for the menu."""
        first = ("communicator", "window", "request", "plan", "config", "error", "device_array")
        return [{"All names": INDEX}, *({name: f"{PLACE}/{name}.md"} for name in first if f"{PLACE}/{name}.md" in self.pages),
                *({f"operation {name}": f"{PLACE}/operation.{name}.md"} for name in sorted(self.operations))]

    def number_of_names(self):
        return sum(1 + len(one.members) + sum(len(member.members) for member in one.members) for one in self.compounds.values())

    def uncovered(self):
        """Calls of a communicator that are on no operation's page."""
        communicator = self.compounds["chorale::communicator"]
        names = {one.name for one in communicator.members}
        calls = {name for name in names if f"i{name}" in names}
        there = {forms[0].name for operation in self.operations for forms in self.calls(operation)}
        # Those that make communicators are no collectives of data.
        return sorted(calls - there - {"split", "subgroup", "duplicate"})


HEADER = re.compile(r"(?<!\[)`(?:include/)?(?:chorale/)?([\w/]+\.hpp)`(?!\])")
FENCED = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)


def area_of(header):
    """The longest area whose folder the header is in."""
    return max((area for area, _ in AREAS if header.startswith(area)), key=len, default="")
