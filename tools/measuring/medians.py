# SPDX-License-Identifier: Apache-2.0
"""Rounds in which all contestants take turns, so that disturbances of the machine affect all alike; and their medians."""
import collections
import statistics


def order(everyone, number):
    """Rotates the order from round to round, since the first contestant finds other caches than the last."""
    first = number % len(everyone)
    return everyone[first:] + everyone[:first]


class Samples(collections.defaultdict):
    """The values of each key, one per round."""

    def __init__(self):
        super().__init__(list)

    def add(self, figures):
        """Adds the figures of a round, {key: value}."""
        for key, value in figures.items():
            self[key].append(value)

    def median(self, key):
        """The median over the rounds; None if there is no value."""
        return statistics.median(self[key]) if self.get(key) else None
