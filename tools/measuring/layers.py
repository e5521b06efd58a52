# SPDX-License-Identifier: Apache-2.0
"""Where the instructions of a short call go: each 4-byte call of two ranks over rc on soft0, rank by rank and layer by layer.

  tools/measure layers [--library FOLDER] [--calls N] [--lines CALL/RANK]

Compiles tools/measuring/counted/small_calls.cpp with the headers of this tree, links it with the library in FOLDER (build-check/lib), which has to
have line numbers (-g1), and runs it under callgrind. A line of the table is a call on one rank; each figure is the mean of N calls (400): the
instructions of each layer, by the source file that they come from; then those that take many cycles each, of which a count of instructions
says nothing: divisions, and locked instructions, which also wait until what was stored before has left the core; then the requests that the
device got, each an RDMA write, notifications of blocks among them (one for eight messages).

--lines lists what costs most of one call on one rank, such as scan/0, by line. Needs valgrind, its headers, and objdump.
"""
import collections
import pathlib
import re
import subprocess
import tempfile

from measuring import callgrind, options, pages, process, trees

SOURCE = "small_calls.cpp"
# The first match counts. Instructions from headers of the standard library count where they are inlined.
LAYERS = {
    "device": r"lib/soft/",
    "mailbox": r"chorale/transport/(connections/|wire/mailbox)|lib/transport/connections/|chorale/verbs/",
    "waiting": r"chorale/transport/(endpoint/(waiting|progress_engine)|assembled|wire/arrival|one_rail)",
    "algorithm": r"chorale/(algorithm|topology|model)/|core/(task|frame_arena|chunks|reduction|combine|copy_bytes|blocks|operators)"
                 r"|chorale/transport/memory/algorithm_store|lib/calls/compile|lib/model/",
    "call": r"chorale/|lib/",
    "C library": r"",
}
DIVISION = re.compile(r"^i?div[lq]?$")


class Profile:
    """The instructions of one dump: by file and line, and by object and address."""

    def __init__(self, text):
        self.places = collections.Counter()
        self.addresses = collections.Counter()
        self.posts = 0
        names = {}
        state = {"ob": "", "fl": "", "fn": ""}
        called = inlined = ""
        at = [0, 0]
        is_call = False

        def named(kind, value):
            number, _, name = value.partition(" ")
            return names.setdefault((kind, number), name) if name else names[kind, number]

        for line in text.splitlines():
            key, is_field, value = line.partition("=")
            if key in ("ob", "fl", "fn") and is_field:
                state[key] = named(key, value)
                if key != "ob":
                    inlined = state["fl"]
            elif key in ("fi", "fe") and is_field:
                inlined = named("fl", value)
            elif key in ("cob", "cfi", "cfl", "cfn") and is_field:
                called = named({"cob": "ob", "cfn": "fn"}.get(key, "fl"), value)
            elif key == "calls" and is_field:
                is_call = True
                if called.startswith("chorale::soft::post_send("):
                    self.posts += int(value.split()[0])
            elif line[:1] in "0+-*" and (fields := line.split())[2:]:
                for i in (0, 1):
                    if fields[i][0] in "+-":
                        at[i] += int(fields[i][1:], 0) * (1 if fields[i][0] == "+" else -1)
                    elif fields[i] != "*":
                        at[i] = int(fields[i], 0)
                if not is_call:
                    file = state["fl"] if "/c++/" in inlined else inlined
                    self.places[file, at[1]] += int(fields[2])
                    self.addresses[state["ob"], at[0]] += int(fields[2])
                is_call = False
            elif line[:1].isdigit():
                raise process.Refused(f"callgrind wrote what is not understood: {line}")

    def layers(self):
        sums = collections.Counter()
        for (file, _), count in self.places.items():
            sums[next(layer for layer, pattern in LAYERS.items() if re.search(pattern, file))] += count
        return sums


class Mnemonics:
    """The mnemonics of slow instructions by address: all of an object's text is disassembled at once."""

    def __init__(self):
        self.objects = {}

    def at(self, file, address):
        if file not in self.objects:
            text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", file], check=True, text=True, stdout=subprocess.PIPE).stdout
            found = re.findall(r"^ *([0-9a-f]+):\t(lock )?(\w+)(.*)$", text, re.M)
            # An exchange with memory is implicitly locked; an exchange of registers may be a no-op.
            self.objects[file] = {int(a, 16): ("lock" if lock else word) for a, lock, word, operands in found
                                  if lock or DIVISION.match(word) or (word == "xchg" and "(" in operands)}
        return self.objects[file].get(address, "")


def measured(library, calls):
    """The profiles of all calls, by name and rank. @throws Refused"""
    with tempfile.TemporaryDirectory(prefix="measure-") as folder:
        program = trees.linked(trees.ROOT, library / "libchorale.so", pathlib.Path(folder) / "program", SOURCE, "-g1")
        dumps = callgrind.dumps(program, calls, options=("--separate-threads=yes", "--dump-instr=yes"))
    found = {(name, int(rank)): Profile(text) for (name, _, rank), text in dumps.items()}
    look_up = Mnemonics()
    for one in found.values():
        one.slow = collections.Counter()
        for (file, address), count in one.addresses.items():
            word = look_up.at(file, address) if file.startswith("/") and not file.endswith("/program") else ""
            if word:
                one.slow["division" if DIVISION.match(word) else "lock"] += count
    return found


def table(found, calls):
    columns = [*LAYERS, "all", "divisions", "locked", "requests"]
    print(pages.head("call", "rank", *columns))
    order = re.findall(r'count(?:_apart)?\("(\w+)"', (trees.COUNTED / SOURCE).read_text(encoding="utf-8"))
    for name, rank in sorted(found, key=lambda w: (order.index(w[0]), w[1])):
        one = found[name, rank]
        layers = one.layers()
        cells = [f"{layers[layer] / calls:.0f}" for layer in LAYERS] + [f"{layers.total() / calls:.0f}"]
        cells += [f"{one.slow[kind] / calls:.2g}" for kind in ("division", "lock")] + [f"{one.posts / calls:.3g}"]
        print(pages.cells(name, rank, *cells))


def lines(one, calls):
    for (file, line), count in one.places.most_common(60):
        path = re.search(r"(include/chorale|lib)/.*", file)
        source = trees.ROOT / path[0] if path else pathlib.Path(file)
        text = source.read_text(errors="replace").splitlines() if source.is_file() else []
        print(f"{count / calls:7.1f}  {path[0] if path else file}:{line}  {text[line - 1].strip() if 0 < line <= len(text) else ''}")


def add_options(parser):
    """Adds the options of this subcommand."""
    parser.add_argument("--library", type=pathlib.Path, default=trees.ROOT / "build-check" / "lib")
    parser.add_argument("--calls", type=options.count, default=400)
    parser.add_argument("--lines", metavar="CALL/RANK")


def run(chosen):
    """Prints the table, or the lines of --lines. @returns the exit status"""
    found = measured(chosen.library.resolve(), chosen.calls)
    if not chosen.lines:
        table(found, chosen.calls)
        return 0
    name, _, rank = chosen.lines.partition("/")
    if not rank.isdigit() or (name, int(rank)) not in found:
        chosen.parser.error(f"there is no {chosen.lines}: " + ", ".join(f"{n}/{r}" for n, r in sorted(found)))
    lines(found[name, int(rank)], chosen.calls)
    return 0
