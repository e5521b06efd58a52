# SPDX-License-Identifier: Apache-2.0
"""The contents of a page of the guide: files, statements, and commands with their output.

* A block of C++, CMake or Meson whose first line is a comment with a file name is that file.
* Any other C++ block is a sequence of statements in which `comm` is a communicator, or of declarations if it begins with one.
* A block without a language whose lines begin with `$ ` is a terminal: commands with their output. `...` stands for any text within
  a line, and on its own for any lines. If the first line is `# Needs ...`, the commands are not replayed, and the line says why; if it
  is `# Where COMMAND is installed ...`, they are replayed if it is.
* Any other block is only shown, and must have the language `text`.
"""
import dataclasses
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from markdown_blocks import blocks  # noqa: E402

NAMED = re.compile(r"(?://|#) (\w[\w.]*\.\w+|CMakeLists\.txt|meson\.build)$")
NEEDS = re.compile(r"# Needs .+")
WHERE = re.compile(r"# Where (\S+) is installed.*\n")
DECLARES = re.compile(r"(?:template|struct|class|namespace|inline|enum)\b")
FILES = ("cpp", "cmake", "meson", "python", "text")


@dataclasses.dataclass
class Command:
    """A command of a terminal, and its output lines."""
    text: str
    expected: list
    line: int


@dataclasses.dataclass
class Page:
    """The contents of a page. Each entry of `sessions` is one terminal; each of `skipped` is a line, a reason, and commands that would be replayed elsewhere."""
    name: str
    files: dict
    statements: list
    declarations: list
    sessions: list
    skipped: list


def is_installed(command, path):
    """Whether a command is on a path of folders; for MPI commands, that of Open MPI, with the headers that mpicxx needs."""
    found = shutil.which(command + ".openmpi" if command.startswith("mpi") else command, path=path)
    return found is not None and (command != "mpicxx" or has_headers(found))


def has_headers(compiler):
    """Whether an MPI compiler finds mpi.h: in Debian, openmpi-bin has the compiler, and libopenmpi-dev the headers."""
    return subprocess.run([compiler, "-E", "-x", "c++", "-"], input="#include <mpi.h>\n", text=True, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


def commands_of(block):
    """The commands of a terminal block. Raises ValueError if the block does not begin with one."""
    found = []
    for number, line in enumerate(block.text.splitlines(), block.line + 1):
        if line.startswith("$ "):
            found.append(Command(line[2:], [], number))
        elif not found:
            raise ValueError(f"line {number}: a terminal begins with a command, '$ ...'; a block of anything else names its language")
        elif found[-1].text.endswith("\\") and not found[-1].expected:
            found[-1].text += "\n" + line
        else:
            found[-1].expected.append(line)
    return found


def read(path, commands):
    """Reads a page. Terminals are replayed if `commands`, a path, has what they need. Raises ValueError, with the line, for a block of none of these kinds."""
    page = Page(path.name, {}, [], [], [], [])
    for block in blocks(path.read_text(encoding="utf-8")):
        first = block.text.split("\n", 1)[0]
        named = NAMED.match(first)
        if block.language in FILES and named:
            if named.group(1) in page.files:
                raise ValueError(f"line {block.line}: there are two files named {named.group(1)}")
            page.files[named.group(1)] = block.text
        elif block.language == "cpp":
            code = re.sub(r"^#include .*\n+", "", block.text, flags=re.MULTILINE)
            (page.declarations if DECLARES.match(code) else page.statements).append(block)
        elif block.language == "":
            if NEEDS.match(first):
                page.skipped.append((block.line, first[2:], ""))
            elif (where := WHERE.match(block.text)) and not is_installed(where.group(1), commands):
                page.skipped.append((block.line, first[2:], block.text))
            else:
                page.sessions.append(commands_of(dataclasses.replace(block, text=WHERE.sub("", block.text))))
        elif block.language != "text":
            raise ValueError(f"line {block.line}: a block of {block.language} without a file's name")
    return page


def sessions_that_need(path, what):
    """The terminals of a page that begin with `# Needs WHAT...`, for users who have it."""
    found = [block for block in blocks(path.read_text(encoding="utf-8")) if block.language == "" and block.text.startswith(f"# Needs {what}")]
    return [commands_of(dataclasses.replace(block, text=block.text.split("\n", 1)[1], line=block.line + 1)) for block in found]


def fits(expected, said):
    """Whether the output matches the lines that the page shows."""
    pattern = ""
    for line in expected:
        if line == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(re.escape(part) for part in line.rstrip().split("...")) + "[ \t]*\n"
    return re.fullmatch(pattern, "".join(line + "\n" for line in said)) is not None
