"""What Doxygen reads from the headers: compounds (classes, namespaces, concepts) and their members, each with its description as Markdown."""
import dataclasses
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

from . import headers

SETTINGS = {
    "PROJECT_NAME": "Chorale", "QUIET": "YES", "GENERATE_HTML": "NO", "GENERATE_LATEX": "NO", "GENERATE_XML": "YES", "XML_PROGRAMLISTING": "NO",
    "EXTRACT_ALL": "YES", "JAVADOC_AUTOBRIEF": "NO", "HAVE_DOT": "NO", "EXCLUDE_SYMBOLS": "chorale::detail chorale::*::detail *::detail::* detail std chorale::transport::*_parts chorale::transport::rc_kind chorale::transport::rc_send_receive_kind",
    "WARN_IF_UNDOCUMENTED": "NO", "WARN_IF_INCOMPLETE_DOC": "NO", "WARN_AS_ERROR": "NO", "SORT_MEMBER_DOCS": "NO", "ENABLE_PREPROCESSING": "YES",
    "MACRO_EXPANSION": "YES", "HIDE_FRIEND_COMPOUNDS": "YES", "STRIP_FROM_PATH": str(headers.INCLUDE), "STRIP_FROM_INC_PATH": str(headers.INCLUDE),
}
COMPOUNDS = ("class", "struct", "union", "namespace", "concept")


@dataclasses.dataclass
class Entity:
    """A compound or a member. `scope` is the qualified name of what it is a member of, `text` its description."""
    kind: str
    name: str
    scope: str
    refid: str
    header: str
    line: int
    declaration: str
    text: str
    members: list = dataclasses.field(default_factory=list)

    @property
    def qualified(self):
        return f"{self.scope}::{self.name}" if self.scope else self.name


def plain(code):
    """An expression as people write it."""
    code = re.sub(r"\s+", " ", code).strip()
    return re.sub(r"(?<=\S) >(?!=)", ">", re.sub(r"< (?=\S)", "<", code))


def tidy(code):
    """A declaration as people write it."""
    code = re.sub(r"\s+", " ", code).strip()
    code = re.sub(r"(?<=[\w>\])]) ?(&&?|\*)(?=[\w.)])", r"\1 ", code)
    code = re.sub(r"(?<=[\w>\])]) (&&?|\*)", r"\1", code)
    code = re.sub(r"< (?=\S)", "<", code)
    code = re.sub(r"(?<=\S) >(?!=)", ">", code)
    code = code.replace("&& ...", "&&...")
    code = re.sub(r"(?<=[\w\])>])=(?=[\w({\"-])", " = ", code)
    return re.sub(r"(&&?|\*) (?=[,)>])", r"\1", code)


def text_of(element):
    return "" if element is None else "".join(element.itertext())


class Words:
    """Descriptions as Markdown. `link(refid)` gives the address of what a name means, or None."""

    def __init__(self, link):
        self.link = link

    @staticmethod
    def escaped(text):
        return re.sub(r"([\\`*_\[\]|#])", r"\\\1", (text or "").replace("&", "&amp;")).replace("<", "&lt;").replace(">", "&gt;")

    def inline(self, element):
        """The text of an element within a paragraph."""
        parts = [self.escaped(element.text)]
        for child in element:
            if child.tag == "computeroutput":
                parts.append(self.code(child))
            elif child.tag == "ref":
                parts.append(self.named(text_of(child), child, code=False))
            elif child.tag in ("emphasis", "bold"):
                mark = "*" if child.tag == "emphasis" else "**"
                parts.append(mark + self.inline(child) + mark)
            elif child.tag == "ulink":
                parts.append(f"[{self.inline(child)}]({child.get('url')})")
            elif child.tag in ("ndash", "mdash"):
                parts.append("–" if child.tag == "ndash" else "—")
            elif child.tag == "linebreak":
                parts.append("\n")
            else:
                parts.append(self.inline(child))
            parts.append(self.escaped(child.tail))
        return "".join(parts)

    def code(self, element):
        words = text_of(element)
        inner = element.find("ref")
        return self.named(words, inner, code=True) if inner is not None and text_of(inner) == words.strip("()") else f"`` {words} ``" if "`" in words else f"`{words}`"

    def named(self, words, ref, code):
        target = self.link(ref.get("refid"))
        shown = f"`{words}`" if code else self.escaped(words)
        return f"[{shown}]({target})" if target else shown

    def blocks(self, element, indent=""):
        """The paragraphs, lists and listings of an element, as blocks of text."""
        if element is None:
            return
        for child in element:
            if child.tag == "para":
                yield from self.paragraph(child, indent)
            elif child.tag in ("sect1", "sect2", "sect3"):
                yield indent + f"**{text_of(child.find('title'))}**"
                yield from self.blocks(child, indent)

    def paragraph(self, para, indent):
        """A paragraph, which Doxygen lets hold lists, listings and tags."""
        flow = xml.Element("flow")
        flow.text = para.text
        for child in para:
            made = list(self.special(child, indent))
            if made:
                if text := self.inline(flow).strip():
                    yield indent + re.sub(r"\s+", " ", text)
                yield from made
                flow = xml.Element("flow")
                flow.text = child.tail
            else:
                flow.append(child)
        if text := self.inline(flow).strip():
            yield indent + re.sub(r"\s+", " ", text)

    def special(self, child, indent):
        """What stands apart from the text around it."""
        if child.tag in ("itemizedlist", "orderedlist"):
            items = []
            for item in child:
                blocks = list(self.blocks(item, indent + "    "))
                items.append(indent + ("* " if child.tag == "itemizedlist" else "1. ") + "\n\n".join(blocks).strip())
            yield "\n".join(items) if all("\n" not in item for item in items) else "\n\n".join(items)
        elif child.tag in ("programlisting", "verbatim", "preformatted"):
            lines = [text_of(line) for line in child.iter("codeline")] or text_of(child).strip("\n").split("\n")
            lines = [self.spaced(line) for line in child.iter("codeline")] or lines
            yield "\n".join([indent + "```cpp", *[indent + line for line in lines], indent + "```"])
        elif child.tag == "simplesect":
            kind = {"return": "Returns"}.get(child.get("kind"), (child.get("kind") or "").capitalize())
            blocks = list(self.blocks(child, indent))
            yield "\n\n".join([f"{indent}*{kind}*: {blocks[0].strip()}", *blocks[1:]]) if blocks else ""
        elif child.tag == "parameterlist":
            kind = {"exception": "Throws", "templateparam": "Template parameter"}.get(child.get("kind"), "Parameter")
            for item in child.iter("parameteritem"):
                names = ", ".join(f"`{text_of(name)}`" for name in item.iter("parametername"))
                yield f"{indent}*{kind}* {names}: " + " ".join(block.strip() for block in self.blocks(item.find("parameterdescription")))

    @staticmethod
    def spaced(line):
        for space in line.iter("sp"):
            space.text = " "
        return text_of(line)

    def description(self, definition):
        return "\n\n".join([*self.blocks(definition.find("briefdescription")), *self.blocks(definition.find("detaileddescription")),
                            *self.blocks(definition.find("inbodydescription"))])


def declaration_of(definition):
    """What a compound or member is declared as."""
    template = ""
    for parameters in definition.findall("templateparamlist"):
        each = []
        for parameter in parameters:
            words = " ".join(filter(None, [text_of(parameter.find("type")), text_of(parameter.find("declname"))]))
            given = parameter.find("defval")
            each.append(words + (f" = {text_of(given)}" if given is not None else ""))
        template += f"template <{', '.join(each)}>\n"
    template = "".join(tidy(line) + "\n" for line in template.splitlines())
    if (requires := definition.find("requiresclause")) is not None:
        template += f"requires {plain(text_of(requires))}\n"
    kind = definition.get("kind")
    if kind in COMPOUNDS:
        return template + f"{kind} {definition.findtext('compoundname')}"
    words = [] if definition.get("static") != "yes" else ["static"]
    value = ""
    # Doxygen drops the <> of a template without arguments.
    kind_type = re.sub(r"\btask\b(?! ?<)", "task<>", text_of(definition.find("type")))
    if kind == "typedef":
        code = f"using {definition.findtext('name')} = {kind_type}"
    elif kind == "enum":
        code = f"enum {'class ' if definition.get('strong') == 'yes' else ''}{definition.findtext('name')}"
    else:
        if definition.get("explicit") == "yes":
            words.append("explicit")
        code = " ".join(filter(None, [*words, kind_type, definition.findtext("name") + (definition.findtext("argsstring") or "")]))
        if kind == "variable" and definition.find("initializer") is not None and len(text_of(definition.find("initializer"))) < 60:
            value = " " + plain(text_of(definition.find("initializer")))
    return template + tidy(code) + value


def is_public(name):
    return not re.search(r"(^|::)(detail(_\w+)?|std)(::|$)|@|^chorale::\w+::detail", name)


def place(definition):
    location = definition.find("location")
    return ("", 0) if location is None else (location.get("file"), int(location.get("line") or 0))


def member(definition, scope, words):
    header, line = place(definition)
    found = Entity(definition.get("kind"), definition.findtext("name"), scope, definition.get("id"), header, line, declaration_of(definition),
                   words.description(definition))
    for value in definition.findall("enumvalue"):
        found.members.append(Entity("value", value.findtext("name"), found.qualified, value.get("id"), header, line,
                                    tidy(value.findtext("name") + " " + text_of(value.find("initializer"))), words.description(value)))
    return found


def read(folder, words):
    """The public compounds of Doxygen's XML, each with its public members in the order of the header."""
    found = []
    for file in sorted(folder.glob("*.xml")):
        for definition in xml.parse(file).getroot().findall("compounddef"):
            name = definition.findtext("compoundname")
            if definition.get("kind") not in COMPOUNDS or definition.get("prot") in ("private", "protected") or not is_public(name) or not name.startswith("chorale"):
                continue
            header, line = place(definition)
            compound = Entity(definition.get("kind"), name, "", definition.get("id"), header, line, declaration_of(definition), words.description(definition))
            for one in definition.iter("memberdef"):
                if one.get("prot") in ("public", "package", None) and one.get("kind") in ("function", "variable", "typedef", "enum") and is_public(one.findtext("name")):
                    compound.members.append(member(one, name, words))
            # Deduction guides, and what is said for one type alone, are parts of what they are about.
            own = {one.text.rpartition("::")[2] for one in definition.findall("innerclass")} if compound.kind == "namespace" else set()
            compound.members = [one for one in compound.members if "<" not in one.name.replace("operator<", "") and (one.kind != "function" or one.name not in own)]
            compound.members.sort(key=lambda m: (m.header, m.line))
            found.append(compound)
    return found


def run(link):
    """Doxygen's view of the headers. Exits where there is no Doxygen, or where it finds something wrong with a comment."""
    command = shutil.which("doxygen")
    if command is None:
        sys.exit("tools/docs: there is no doxygen; install it: apt-get install doxygen (tools/install-dependencies --ci does)")
    with tempfile.TemporaryDirectory(prefix="chorale-doxygen-") as place_of_output:
        settings = dict(SETTINGS, OUTPUT_DIRECTORY=place_of_output, INPUT=" ".join(f'"{file}"' for file in headers.described()))
        text = "".join(f"{name} = {value}\n" for name, value in settings.items())
        made = subprocess.run([command, "-"], input=text, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if made.returncode != 0:
            sys.exit(f"tools/docs: doxygen ended with status {made.returncode}\n{made.stdout}")
        remarks = [line.replace(f"{headers.ROOT}/", "") for line in made.stdout.splitlines() if "warning:" in line
                   # Doxygen does not know that a template of namespace std is specialized here.
                   and "scope for class std::" not in line and "Include graph" not in line]
        return read(pathlib.Path(place_of_output) / "xml", Words(link)), remarks
