# SPDX-License-Identifier: Apache-2.0
"""Results in the format of chorale-bench, chorale-sim, mpi-peers and tools/measure compare: reads them and sorts them into curves."""
import dataclasses
import math
import re

from plots.gnuplot import Failed

ROOTED = ("broadcast", "reduce", "gather", "scatter")
TEXTS = ("operation", "algorithm", "transport")
COUNTS = ("bytes", "samples", "calls")
# With fewer samples, percentiles mean little.
FEW_SAMPLES = 10
MOST_CURVES = 6  # that can be distinguished in a panel
TIMES = ("median", "p10", "p90", "p99", "min", "max", "wall")


@dataclasses.dataclass
class Mark:
    """A row as drawn and as shown in tables: the time of a call in microseconds, and the ends of its bar."""
    bytes: int
    time: float
    low: float
    high: float
    row: dict

    @property
    def wrong(self):
        """How many ranks had a wrong result."""
        return self.row.get("wrong_ranks", 0)


@dataclasses.dataclass
class Strip:
    """The curves of one operation on one number of ranks."""
    title: str
    sized: bool  # false for a barrier, which has no bytes
    with_barrier: bool  # times include the barrier before each call
    curves: dict = dataclasses.field(default_factory=dict)  # {name: [Mark]}, in order of size
    left_out: list = dataclasses.field(default_factory=list)  # values that logarithmic axes cannot show
    spanned: list = dataclasses.field(default_factory=list)  # marks of neighbouring strips, for which the axes must have space, too

    @property
    def marks(self):
        """The marks of all curves."""
        return [mark for marks in self.curves.values() for mark in marks]

    def best(self):
        """{bytes: (name, mark)} of the fastest curve at each size."""
        found = {}
        for name, marks in self.curves.items():
            for mark in marks:
                if mark.bytes not in found or mark.time < found[mark.bytes][1].time:
                    found[mark.bytes] = name, mark
        return dict(sorted(found.items()))


def parts_of(strip):
    """Splits the strip into strips of few curves, with the same axes. Each contains the first curve, for comparison. The points of a barrier are side by
    side, and so are not split."""
    if not strip.sized or len(strip.curves) <= MOST_CURVES:
        return [strip]
    first, *others = strip.curves
    count = -(-len(others) // (MOST_CURVES - 1))
    each = -(-len(others) // count)
    chosen = [[first, *others[each * number:each * (number + 1)]] for number in range(count)]
    return [dataclasses.replace(strip, title=f"{strip.title} ({number} of {count})", curves={name: strip.curves[name] for name in names}, spanned=strip.marks,
                                left_out=strip.left_out if number == count else []) for number, names in enumerate(chosen, 1)]


def bandwidth(size, time):
    """The bandwidth of a call in megabytes (10^6 bytes) per second."""
    return size / time


def size_text(size):
    """A size in the largest unit that divides it: 64 KiB, 1000 B."""
    units = ["B", "KiB", "MiB", "GiB", "TiB"]
    while len(units) > 1 and size >= 1024 and size % 1024 == 0:
        size //= 1024
        units.pop(0)
    return f"{size} {units[0]}"


def is_number(value):
    """Whether the value is a number; True and False are not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def checked(result, where):
    """Returns the result if its members are valid. @throws Failed naming the one that is not"""
    if not isinstance(result, dict) or not isinstance(result.get("rows"), list):
        raise Failed(f'{where}: it has no list "rows": it is no result that chorale-bench, chorale-sim, mpi-peers or tools/measure has written')
    if not isinstance(result.get("ranks"), int) or result["ranks"] < 1:
        raise Failed(f'{where}: "ranks" must be a whole number from 1 on')
    for part in ("about", "machine", "run"):
        if not isinstance(result.setdefault(part, {}), dict):
            raise Failed(f'{where}: "{part}" must be an object of texts')
    for number, row in enumerate(result["rows"], 1):
        if not isinstance(row, dict):
            raise Failed(f"{where}: row {number}: it must be an object")
        for keys, good, kind in ((TEXTS, lambda value: isinstance(value, str), "a text"), (TIMES, is_number, "a number of microseconds"),
                                 (COUNTS, lambda value: isinstance(value, int) and value >= 0, "a whole number from 0 on")):
            wrong = next((key for key in keys if not good(row.get(key))), None)
            if wrong:
                raise Failed(f'{where}: row {number}: "{wrong}" must be {kind}')
    return result


def name_of(result, row, several_results, several_transports):
    """The name that distinguishes the row's curve within its strip."""
    name = f"{result.get('name', '')}: " if several_results else ""
    if row.get("contestant"):
        return name + row["contestant"]
    # For an MPI, the transport is the library.
    return name + (f"{row['transport']} " if several_transports and row["transport"] != "mpi" else "") + row["algorithm"]


def counts_barrier(result):
    """Whether calls with a root are timed with their barrier: if ranks outnumber cores, a rank that waits in the barrier for a core finds its
    message already there, so that the call alone would seem to cost nothing."""
    about = result["about"]
    return about.get("waiting") == "ranks outnumber cores: yielding" and "calls with a root" not in about


def strip_of(title, rows):
    """The strip of these (result, row) pairs."""
    made = Strip(title, any(row["bytes"] > 0 for _, row in rows), rows[0][1]["operation"] in ROOTED and any(counts_barrier(result) for result, _ in rows))
    several_results = len({id(result) for result, _ in rows}) > 1
    several_transports = len({row["transport"] for _, row in rows}) > 1
    for result, row in rows:
        name = name_of(result, row, several_results, several_transports)
        times = (row["wall"],) * 3 if made.with_barrier else (row["median"], row["p10"], row["p90"])
        mark = Mark(row["bytes"], *times, row)
        if all(map(math.isfinite, times)) and mark.time > 0 and mark.high > 0 and (mark.bytes > 0 or not made.sized):
            made.curves.setdefault(name, []).append(mark)
        else:
            made.left_out.append(f"{name} at {size_text(mark.bytes)}: {mark.time:.3g} µs")
    for marks in made.curves.values():
        marks.sort(key=lambda mark: mark.bytes)
    return made


def strips_of(results):
    """The strips of results, in the order of measurement."""
    places = {}
    for result in results:
        for row in result["rows"]:
            places.setdefault((row.get("set_up", ""), row["operation"], result["ranks"]), []).append((result, row))
    return [strip_of(f"{set_up}{': ' if set_up else ''}{operation}, {ranks} {'rank' if ranks == 1 else 'ranks'}", rows)
            for (set_up, operation, ranks), rows in places.items()]


def number_in(text):
    """The first number of a fact, such as 2 of "2 of 4"; 0 if there is none."""
    found = re.match(r"\d+(\.\d+)?", text if isinstance(text, str) else "")
    return float(found[0]) if found else 0


def cautions_of(result):
    """Reasons why the fastest row may be so by chance: load by other programs, and rows with few samples."""
    found = []
    load = max(number_in(facts.get(name)) for facts in (result["about"], result["machine"], result["run"]) for name in ("load before", "load at the end"))
    # A waiting rank counts in the load, too.
    if load > result["ranks"] + 1:
        found.append(f"The load was {load:.4g} with {result['ranks']} ranks: other programs ran meanwhile.")
    few = [row["samples"] for row in result["rows"] if row["samples"] < FEW_SAMPLES]
    if few:
        found.append(f"{len(few)} of {len(result['rows'])} figures are of fewer than {FEW_SAMPLES} samples, the least of {min(few)}.")
    return found


def bars_of(results):
    """The meaning of the bars, if a program states that they are not percentiles; else None."""
    return next((result["about"]["bars"] for result in reversed(results) if "bars" in result["about"]), None)
