# SPDX-License-Identifier: Apache-2.0
"""The definition of a figure: data only, so that every device and the simulator run the same."""
import dataclasses
import itertools

LAUNCHED = "chorale-bench"


@dataclasses.dataclass(frozen=True)
class Contestant:
    """An algorithm over a transport, with its own settings (CHORALE_... variables)."""
    name: str
    transport: str
    algorithm: str
    settings: tuple = ()  # pairs of a variable and its value
    memory: str = "one buffer"  # or "in turns", "fresh": see chorale-bench --fresh

    def document(self):
        """The contestant in the format of chorale-bench --set-ups."""
        return {"name": self.name, "transport": self.transport, "algorithm": self.algorithm, "memory": self.memory,
                "settings": {variable: str(value) for variable, value in self.settings}}


@dataclasses.dataclass(frozen=True)
class Bench:
    """A set-up of chorale-bench: contestants that take turns sample by sample in one launch."""
    operation: str
    contestants: tuple
    ranks: tuple
    sizes: tuple = ()
    small_ranks: tuple = (3,)
    small_sizes: tuple = ()
    timing: str = "each call"  # or "back to back", "last leaf"
    environment: tuple = ()  # pairs, for variables that are not settings of a communicator

    def document(self, name, sizes):
        """The set-up in the format of chorale-bench --set-ups."""
        return {"name": name, "operation": self.operation, "timing": self.timing, "sizes": list(sizes),
                "contestants": [one.document() for one in self.contestants]}


@dataclasses.dataclass(frozen=True)
class Fit:
    """Parameters of a model that are computed from what a set-up measures. `compute(results)` returns {"ts": 0.3, ...}, or None if that
    was not measured; `options` are pairs of a program's option and the parameter that it takes."""
    of: object
    compute: object
    options: tuple


@dataclasses.dataclass(frozen=True)
class Program:
    """Any other program of the build's tools/. It writes to the file of its option --json:
    {"rows": [{"contestant": NAME, "at": {"ranks": 8, "bytes": 4}, "value": 1.5, "unit": "us", "wrong": 0}]}:
    "at" has the numbers that distinguish points, "wrong" counts wrong results."""
    name: str
    arguments: tuple = ()
    small_arguments: tuple = None  # None: the same as `arguments`
    ranks: int = 0  # 0: without a launcher
    once: bool = False  # it computes: further runs give the same results
    small: bool = True  # False: too large for the small form, which omits it
    environment: tuple = ()
    fit: Fit = None  # it runs after all others, with these parameters
    follows_ranks: bool = False  # `tools/papers --ranks` replaces its --ranks


def model(what, ranks, sizes, *more, small_ranks=(4,), fit=None):
    """The model of a paper, by papers-model."""
    def arguments(numbers):
        return (what, "--ranks", ",".join(map(str, numbers)), "--bytes", ",".join(map(str, sizes)), *more)
    return Program("papers-model", arguments(ranks), arguments(small_ranks), once=True, fit=fit, follows_ranks=True)


NEAR = 10  # points: hundredths of a ratio

RULE = f"""How a claim is judged, whatever paper it is of:

* A ratio says how many times faster the first of a claim is than the second. A latency that a paper calls 20 % lower is a ratio of 1.25.
* A claim over several sizes or groups is judged at each of them and shown by its least ratio. Only where the paper says "up to" is it
  judged and shown by its greatest. A claim that something is slower is shown by the point at which it is least slow.
* The sign agrees if the one that is faster in the paper is faster at each of these points, for "up to" at the greatest.
* A number is met if the ratio is within {NEAR} points of it, a point being a hundredth of a ratio. The share of the gain is what the ratio
  here exceeds 1 by, as a part of what the paper's exceeds 1 by: near 1 a number may be met with little of its gain.
* A bound ("over 33 %", "below 10 %") is met or not. It has no error in points.
* A claim without a number is met if its sign agrees.
* A row that follows from a number which was itself chosen by the paper's result is marked as fitted. It is shown, and counts nowhere."""


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The judgement of a claim. `ours` is None if it was not measured. `points`: the error of a number."""
    text: str
    paper: str
    ours: str = None
    agrees: bool = None  # whether the sign or the bound agrees
    why_not: str = ""
    points: int = None
    gain: float = None  # the reproduced share of the gain
    fitted: str = ""

    @property
    def near(self):
        """Whether a number is met; None if the claim has none."""
        return None if self.points is None else abs(self.points) <= NEAR

    @property
    def met(self):
        """Whether the claim is met; None if it was not measured."""
        return None if self.ours is None else bool(self.agrees) and self.near is not False


def factor(value):
    """1.25 as 1.25x."""
    return f"{value:.2f}x"


def as_long(value):
    """A ratio of 0.5 as 2.00x as long."""
    return f"{factor(1 / value)} as long"


@dataclasses.dataclass(frozen=True, eq=False)
class Faster:
    """`who` takes less time than `than`: `paper` is the time of `than` divided by that of `who`, or None if the paper only says who
    wins. `slower`: the paper says that `who` loses.

    `at` lists points ({"ranks": 8}), each of which is judged by RULE; `most`: the paper says "up to". `than_at`: the points of `than`,
    if different. `bound`: the paper's number is a bound ("over 33 %"). `similar`: the paper says that both take equally long. `than`
    may be a function that returns a name for each point, like a library that chooses. For rates (units with "/s"), more is better."""
    text: str
    who: str
    than: object
    at: tuple
    paper: float = None
    most: bool = False
    slower: bool = False
    bound: bool = False
    similar: bool = False
    than_at: tuple = None
    network: str = ""  # why this is invisible if ranks share a host
    cluster: int = 1  # of the paper
    fitted: str = ""  # the number of the paper that it is fitted to

    def points(self):
        return [*self.at, *(self.than_at or ())]

    def loses(self):
        """Whether the paper says that `who` is the slower one."""
        return self.slower or (self.paper or 2) < 1

    def says(self):
        """The paper's result as text."""
        show = as_long if self.loses() else factor
        if self.similar:
            return "as long"
        if not self.paper:
            return "slower" if self.slower else "faster"
        return f"over {show(self.paper)}" if self.bound else f"up to {show(self.paper)}" if self.most else show(self.paper)

    def ratios(self, results):
        """The ratio at each point; None if one of them was not measured."""
        found = []
        for at, other in zip(self.at, self.than_at or self.at):
            who, than = results.row(self.who, at), results.row(self.than(other) if callable(self.than) else self.than, other)
            if not who or not than:
                return None
            found.append(who.value / than.value if who.unit.endswith("/s") else than.value / who.value)
        return found

    def judge(self, results):
        """The Verdict."""
        ratios = self.ratios(results)
        if ratios is None:
            return Verdict(self.text, self.says(), why_not="not measured")
        if self.similar:
            ours = max(ratios, key=lambda ratio: abs(ratio - 1))
            off = round(100 * (ours - 1))
            return Verdict(self.text, self.says(), factor(ours), abs(off) <= NEAR, points=off)
        ours = max(ratios) if self.most or self.loses() else min(ratios)
        limit = self.paper if self.bound else 1
        agrees = ours <= limit and ours < 1 if self.loses() else ours >= limit and ours > 1
        shown = (as_long if self.loses() else factor)(ours)
        if self.bound or not self.paper:
            return Verdict(self.text, self.says(), shown, agrees, fitted=self.fitted)
        return Verdict(self.text, self.says(), shown, agrees, points=round(100 * (round(ours, 2) - round(self.paper, 2))),
                       gain=(ours - 1) / (self.paper - 1), fitted=self.fitted)


@dataclasses.dataclass(frozen=True, eq=False)
class Best:
    """`who` is the fastest of `among` at each of the points."""
    text: str
    who: str
    among: tuple
    at: tuple
    network: str = ""
    cluster: int = 1
    fitted = ""

    def points(self):
        return self.at

    def says(self):
        """The paper's result as text."""
        return self.who

    def judge(self, results):
        """The Verdict: the fastest at the points, and the least advantage of `who` over the best of the others."""
        ratios, winners = [], []
        for at in self.at:
            rows = {name: results.row(name, at) for name in self.among}
            if not all(rows.values()):
                return Verdict(self.text, self.who, why_not="not measured")
            times = {name: 1 / row.value if row.unit.endswith("/s") else row.value for name, row in rows.items()}
            ratios.append(min(value for name, value in times.items() if name != self.who) / times[self.who])
            winners.append(min(times, key=times.get))
        shown = ", ".join(dict.fromkeys(winners))
        return Verdict(self.text, self.who, f"{shown} ({self.who}: {factor(min(ratios))})", min(ratios) > 1)


@dataclasses.dataclass(frozen=True, eq=False)
class Computed:
    """A number computed from the results: `compute(results)` returns it, or None if it was not measured. It agrees if it differs from the
    printed number by at most `within`; with `most`, if it is not greater. `at`: points of a Bench that it needs; programs always run."""
    text: str
    paper: float
    compute: object
    within: float = 0
    show: str = "{:.2f}"
    most: bool = False
    at: tuple = ()
    network: str = ""
    cluster: int = 1
    fitted: str = ""

    def points(self):
        return self.at

    def says(self):
        """The paper's result as text."""
        return ("at most " if self.most else "") + self.show.format(self.paper)

    def judge(self, results):
        """The Verdict."""
        ours = self.compute(results)
        if ours is None:
            return Verdict(self.text, self.says(), why_not="not measured")
        return Verdict(self.text, self.says(), self.show.format(ours),
                       ours <= self.paper if self.most else abs(ours - self.paper) <= self.within, fitted=self.fitted)


@dataclasses.dataclass(frozen=True, eq=False)
class Grows:
    """The time by which `than` exceeds `who` grows from each point to the next."""
    text: str
    who: str
    than: object
    at: tuple
    network: str = ""
    cluster: int = 1
    fitted = ""

    def points(self):
        return self.at

    def says(self):
        """The paper's result as text."""
        return "grows"

    def judge(self, results):
        """The Verdict, with the first and the last difference."""
        gaps = []
        for at in self.at:
            who, than = results.row(self.who, at), results.row(self.than(at) if callable(self.than) else self.than, at)
            if not who or not than:
                return Verdict(self.text, self.says(), why_not="not measured")
            gaps.append(than.value - who.value)
        return Verdict(self.text, self.says(), f"{gaps[0]:.3g} to {gaps[-1]:.3g} us", all(a < b for a, b in zip(gaps, gaps[1:])))


@dataclasses.dataclass(frozen=True, eq=False)
class Figure:
    """A figure or table of a paper, or a number in its text."""
    name: str  # "P1.7": paper and figure, including its parts such as P1.7a
    title: str
    source: str  # "P1 section 6, figure 7"
    set_ups: tuple
    x: str  # the horizontal axis: "ranks", "bytes", ...
    also: tuple = ()  # names of other figures that this one shows, too
    claims: tuple = ()
    cannot: str = ""  # what soft0 cannot show of it
    twin: str = ""  # the figure with the same measurement, if both papers' clusters are one host
    model: str = ""  # about its model and parameters; {ts} stands for a fitted one
    shown: tuple = ()  # contestants of the table and plot, in order; empty: all
    only: tuple = ()  # pairs of an axis and its values: the points of the table and plot
    log_x: bool = True
    log_y: bool = False
    drawn: tuple = ()  # the contestants of `shown` in the plot; empty: all

    @property
    def paper(self):
        return self.name.split(".")[0]


@dataclasses.dataclass(frozen=True)
class Row:
    """The median of several runs, with minimum and maximum."""
    contestant: str
    at: tuple  # pairs of a name and a number, sorted
    value: float
    unit: str
    least: float
    most: float
    runs: int


class Results:
    """The rows of a figure."""

    def __init__(self, rows, problems=(), failures=(), device="", parameters=None):
        self.rows = list(rows)
        self.parameters = dict(parameters or {})  # of its models, if fitted
        self.device = device  # used by the whole run; empty if no program reports it
        self.problems = list(problems)  # descriptions of what could not be measured
        self.failures = list(failures)  # descriptions of what failed or was wrong

    def row(self, contestant, at):
        """The row of `contestant` at a point that agrees with `at`; None if there is none."""
        wanted = set(at.items())
        found = [row for row in self.rows if row.contestant == contestant and wanted <= set(row.at)]
        return found[0] if found else None

    def value(self, contestant, **at):
        """The value of that row, or None."""
        row = self.row(contestant, at)
        return row.value if row else None


def at_each(**axes):
    """All points of the axes: at_each(ranks=(2, 4), bytes=4)."""
    lists = [[(name, value) for value in (values if isinstance(values, (tuple, list, range)) else (values,))]
             for name, values in axes.items()]
    return tuple(dict(point) for point in itertools.product(*lists))


def less_by(percent):
    """The ratio of times for "19% faster" in these papers, which means a latency lower by that percentage."""
    return 1 / (1 - percent / 100)
