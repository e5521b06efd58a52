"""What a figure is: data alone, so that any device, and later a simulator, runs the same."""
import dataclasses
import itertools

LAUNCHED = "chorale-bench"


@dataclasses.dataclass(frozen=True)
class Contestant:
    """An algorithm over a transport, with the settings (CHORALE_... variables) of its own side of a comparison."""
    name: str
    transport: str
    algorithm: str
    settings: tuple = ()  # pairs of a variable and its value
    memory: str = "one buffer"  # or "in turns", "fresh": chorale-bench --fresh says what they are

    def document(self):
        """As chorale-bench --set-ups reads it."""
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
    environment: tuple = ()  # pairs, for what is no setting of a communicator

    def document(self, name, sizes):
        """As chorale-bench --set-ups reads it."""
        return {"name": name, "operation": self.operation, "timing": self.timing, "sizes": list(sizes),
                "contestants": [one.document() for one in self.contestants]}


@dataclasses.dataclass(frozen=True)
class Fit:
    """Parameters of a model that follow from what a set-up measures. `compute(results)` gives {"ts": 0.3, ...}, or None where
    that was not measured; `options` are pairs of a program's option and the parameter that it takes."""
    of: object
    compute: object
    options: tuple


@dataclasses.dataclass(frozen=True)
class Program:
    """Any other program of the build's tools/. It takes --json FILE and writes there
    {"rows": [{"contestant": NAME, "at": {"ranks": 8, "bytes": 4}, "value": 1.5, "unit": "us", "wrong": 0}]}:
    "at" has whatever numbers tell one point from another, "wrong" counts wrong results."""
    name: str
    arguments: tuple = ()
    small_arguments: tuple = None  # as `arguments` if none are given
    ranks: int = 0  # 0: without a launcher
    once: bool = False  # computes: another run gives the same
    small: bool = True  # False: too large for the small form, which leaves it out
    environment: tuple = ()
    fit: Fit = None  # it runs after all others, with these parameters
    follows_ranks: bool = False  # `tools/papers --ranks` replaces those of its --ranks


def model(what, ranks, sizes, *more, small_ranks=(4,), fit=None):
    """The model of a paper, by papers-model."""
    def arguments(numbers):
        return (what, "--ranks", ",".join(map(str, numbers)), "--bytes", ",".join(map(str, sizes)), *more)
    return Program("papers-model", arguments(ranks), arguments(small_ranks), once=True, fit=fit, follows_ranks=True)


@dataclasses.dataclass(frozen=True)
class Verdict:
    """A claim beside what was measured. `ours` is None where it was not measured."""
    text: str
    paper: str
    ours: str = None
    agrees: bool = None
    why_not: str = ""


def factor(value):
    """1.25 as 1.25x."""
    return f"{value:.2f}x"


@dataclasses.dataclass(frozen=True, eq=False)
class Faster:
    """`who` takes less time than `than`: paper is the time of `than` by that of `who`. A claim of a paper that says
    who wins, and not by how much, has `paper` None. `slower`: the paper says that `who` loses.

    `at` lists points ({"ranks": 8}); `most`: the largest ratio among them is the claim ("up to 1.64"), else the ratio
    has the sign of the claim at each of them, and the least is shown. `than_at`: where `than` is looked at, if elsewhere.
    `over`: the paper's number is a bound ("over 33 %"), which a larger ratio meets.
    `than` may be a function that gives a name for each point, as a library chooses. Of rates (units with "/s") more is better."""
    text: str
    who: str
    than: object
    at: tuple
    paper: float = None
    most: bool = False
    slower: bool = False
    over: bool = False
    than_at: tuple = None
    headline: bool = False
    network: str = ""  # why this cannot be seen where ranks share a host

    def points(self):
        return [*self.at, *(self.than_at or ())]

    def judge(self, results):
        """A Verdict."""
        says = factor(self.paper) if self.paper else "slower" if self.slower else "faster"
        if self.over:
            says = f"over {says}"
        ratios = []
        for at, other in zip(self.at, self.than_at or self.at):
            who, than = results.row(self.who, at), results.row(self.than(other) if callable(self.than) else self.than, other)
            if who and than:
                ratios.append(who.value / than.value if who.unit.endswith("/s") else than.value / who.value)
        if not ratios or (len(ratios) < len(self.at) and not self.most):
            return Verdict(self.text, says, why_not="not measured")
        loses = self.slower or (self.paper or 2) < 1
        ours = max(ratios) if self.most or loses else min(ratios)
        return Verdict(self.text, says, factor(ours), ours < 1 if loses else ours > 1)


@dataclasses.dataclass(frozen=True, eq=False)
class Best:
    """`who` is the fastest of `among` at each of the points."""
    text: str
    who: str
    among: tuple
    at: tuple
    headline: bool = False
    network: str = ""

    def points(self):
        return self.at

    def judge(self, results):
        """A Verdict: the fastest in the median over the points, and how far `who` is from the best of the others."""
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
    """A number that follows from the results: `compute(results)` gives it, or None where it was not measured. It agrees
    if it is within `within` of what the paper prints. `at`: points of a Bench that it needs; programs run anyway."""
    text: str
    paper: float
    compute: object
    within: float
    show: str = "{:.2f}"
    at: tuple = ()
    headline: bool = False
    network: str = ""

    def points(self):
        return self.at

    def judge(self, results):
        """A Verdict."""
        ours = self.compute(results)
        if ours is None:
            return Verdict(self.text, self.show.format(self.paper), why_not="not measured")
        return Verdict(self.text, self.show.format(self.paper), self.show.format(ours),
                       abs(ours - self.paper) <= self.within)


@dataclasses.dataclass(frozen=True, eq=False)
class Figure:
    """A figure or table of a paper, or a number of its text."""
    name: str  # "P1.7": paper and figure; parts of it, as P1.7a, are this figure too
    title: str
    source: str  # "P1 section 6, figure 7"
    set_ups: tuple
    x: str  # what of a point the horizontal axis has: "ranks", "bytes", ...
    also: tuple = ()  # names of figures that this one shows as well
    claims: tuple = ()
    cannot: str = ""  # what soft0 cannot show of it
    model: str = ""  # of its model and the parameters; {ts} stands for a fitted one
    shown: tuple = ()  # contestants of the table and plot, in their order; all if there are none
    only: tuple = ()  # pairs of an axis and its values: the points of the table and plot
    log_x: bool = True
    log_y: bool = False
    plot: bool = True

    @property
    def paper(self):
        return self.name.split(".")[0]


@dataclasses.dataclass(frozen=True)
class Row:
    """A median over runs, and the least and most of them."""
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
        self.parameters = dict(parameters or {})  # of its models, if they were fitted
        self.device = device  # on which the whole run was made; empty if no program tells
        self.problems = list(problems)  # what could not be measured, in words
        self.failures = list(failures)  # what should have been, or was wrong

    def row(self, contestant, at):
        """The one row of `contestant` whose point has all that `at` says; None if there is none."""
        wanted = set(at.items())
        found = [row for row in self.rows if row.contestant == contestant and wanted <= set(row.at)]
        return found[0] if found else None

    def value(self, contestant, **at):
        """Its value, or None."""
        row = self.row(contestant, at)
        return row.value if row else None


def at_each(**axes):
    """All points of the axes: at_each(ranks=(2, 4), bytes=4)."""
    lists = [[(name, value) for value in (values if isinstance(values, (tuple, list, range)) else (values,))]
             for name, values in axes.items()]
    return tuple(dict(point) for point in itertools.product(*lists))


def less_by(percent):
    """"19% faster" of these papers, a latency lower by that part, as the ratio of the times."""
    return 1 / (1 - percent / 100)
