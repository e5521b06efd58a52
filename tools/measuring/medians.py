# SPDX-License-Identifier: Apache-2.0
"""Rounds in which all take turns, so that what disturbs the machine disturbs all of them; and what comes out."""
import collections
import statistics


def order(everyone, number):
    """Who comes first changes from round to round, since the first has other caches than the last."""
    first = number % len(everyone)
    return everyone[first:] + everyone[:first]


class Samples(collections.defaultdict):
    """The values of each key, one of each round."""

    def __init__(self):
        super().__init__(list)

    def add(self, figures):
        """Takes the figures of a round, {key: value}."""
        for key, value in figures.items():
            self[key].append(value)

    def median(self, key):
        """Over the rounds; None if there is no value."""
        return statistics.median(self[key]) if self.get(key) else None
