# SPDX-License-Identifier: Apache-2.0
"""A run summarized in a few lines: rows won, the median ratio, and the rows above a bound."""
import dataclasses
import statistics

from measuring.comparison.contestants import CHORALE
from measuring.comparison.result import Point

MOST_NAMED = 200  # rows in a line


@dataclasses.dataclass(frozen=True)
class Ratio:
    """A row: Chorale's time and the least of the others' times."""
    point: Point
    ours: float
    best: float
    who: str  # whose time is the least

    @property
    def value(self):
        """Above 1 if Chorale takes longer."""
        return self.ours / self.best

    def text(self):
        """The ratio as an item of a list."""
        return f"{self.point.text()} {self.value:.2f} ({self.who})"


def ratio(results, point, ours):
    """The Ratio of contestant `ours` at a point; None if its time or all others are missing."""
    mine = results.median(point, ours)
    others = [(results.median(point, name), name) for name in results.names(point) if name != ours]
    if mine is None or not others:
        return None
    best, who = min(others)
    return Ratio(point, mine, best, who)


def against_peers(results, points):
    """The ratios of all points at which Chorale has a peer."""
    return [row for row in (ratio(results, point, CHORALE) for point in points) if row]


def of_choice(results, points):
    """The ratios of the communicator's own choice to the best other algorithm, where there is another one.

    chorale-bench lists the default first; it is named `standard` wherever there is a choice.
    """
    rows = []
    for point in points:
        names = results.names(point)
        if names and (point, CHORALE) not in results.refused:
            rows.append(ratio(results, point, "standard" if "standard" in names else names[0]))
    return [row for row in rows if row]


def lines(ratios, ranks, bound, whom):
    """The summary of the rows for a number of ranks; `whom` names what they are compared with."""
    if not ratios:
        yield f"{ranks} ranks: no row has {whom} to compare with."
        return
    won = sum(row.value <= 1 for row in ratios)
    middle = statistics.median(row.value for row in ratios)
    yield f"{ranks} ranks: {won} of {len(ratios)} rows not slower than {whom}; median ratio {middle:.2f}."
    above = sorted((row for row in ratios if row.value > bound), key=lambda row: -row.value)
    named = "; ".join(row.text() for row in above[:MOST_NAMED])
    yield f"{ranks} ranks: {len(above)} of {len(ratios)} rows above {bound:g}" + (f": {named}." if named else ".")
