# SPDX-License-Identifier: Apache-2.0
"""The measurement: in each round, for each number of ranks and size, all contestants in turn."""
import collections

from measuring import medians
from measuring.comparison import result
from measuring.process import Refused

PATIENCE = 3  # consecutive failed runs after which a contestant is given up


class Results:
    """The outcome of all runs."""

    def __init__(self):
        self.samples = medians.Samples()  # of (point, name)
        self.floors = medians.Samples()  # of a point
        self.refused = {}  # (point, contestant) -> why it is left out of this row
        self.machine = {}  # as the first result reports it
        self.facts = {}  # contestant -> its library's description
        self.failures = collections.defaultdict(list)  # (contestant, ranks) -> reasons of the failed runs since the last successful one

    def names(self, point):
        """The contestants with a valid figure at a point, in the order of the runs."""
        return [name for at, name in self.samples if at == point and (point, name) not in self.refused]

    def median(self, point, name):
        """The median over the rounds; None if there is none, or the contestant is left out."""
        return None if (point, name) in self.refused else self.samples.median((point, name))

    def floor(self, point):
        """The median floor, of a flag between two ranks; None if it was not measured."""
        return self.floors.median(point)

    def has_samples(self, point, name, by_algorithm):
        """Whether a contestant, or one of its algorithms, has a sample in this row."""
        return any(at == point and (by_algorithm or of == name) for at, of in self.samples)

    def why_left_out(self, point, name):
        """Why a contestant, or an algorithm of the only contestant, is left out; None if it is not."""
        whose = (name,) if name in self.facts else (name, *self.facts)
        return next((self.refused[point, one] for one in whose if (point, one) in self.refused), None)

    def refuse(self, points, name, why):
        """Leaves a contestant out of these rows, and does not measure it there again."""
        for point in points:
            self.refused.setdefault((point, name), why)

    def add(self, name, by_algorithm, told):
        """Adds the outcome of result.read."""
        facts, machine, figures, without = told
        self.facts.setdefault(name, facts)
        self.machine = self.machine or machine
        for figure in figures:
            self.samples[figure.point, figure.algorithm if by_algorithm else name].append(figure.value)
        self.floors.add({figure.point: figure.floor for figure in figures if figure.floor})
        for point, why in without.items():
            self.refuse([point], name, why)


def measure(everyone, chosen, operations, sizes, show):
    """Runs all rounds. Calls `show` with a description of each run. @returns Results"""
    results = Results()
    for number in range(chosen.rounds):
        for ranks in chosen.ranks:
            for size in sizes:
                # A barrier has no size: measured once per round.
                named = [o for o in operations if o != "barrier" or size == sizes[0]]
                for one in medians.order(everyone, number) if named else ():
                    show(f"round {number + 1}/{chosen.rounds}, {ranks} ranks, {size} bytes: {one.name}")
                    turn(results, one, result.points_of(ranks, named, size), chosen, f"round {number + 1}")
    return results


def turn(results, one, points, chosen, when):
    """Runs one contestant at one size; if that fails, each operation alone, so that only the failing ones are left out."""
    points = [point for point in points if (point, one.name) not in results.refused]
    if not points:
        return
    whose = (one.name, points[0].ranks)
    if len(results.failures[whose]) >= PATIENCE:
        # Samples of earlier rounds remain valid.
        results.refuse([point for point in points if not results.has_samples(point, one.name, chosen.choice)], one.name,
                       f"not tried after {PATIENCE} failed runs in a row, the last of which {results.failures[whose][-1]}")
        return
    try:
        results.add(one.name, chosen.choice, one.run(points, chosen))
        results.failures[whose].clear()
    except Refused as e:
        results.failures[whose].append(f"{e} ({when})")
        if len(points) == 1:
            results.refuse(points, one.name, results.failures[whose][-1])
        else:
            for point in points:
                turn(results, one, [point], chosen, when)


def rows(operations, sizes, ranks):
    """The rows of the table for a number of ranks."""
    return list(dict.fromkeys(point for operation in operations for size in sizes
                              for point in result.points_of(ranks, [operation], size)))
