# SPDX-License-Identifier: Apache-2.0
"""Processes that a test has started and that end with it."""


class Running:
    """`ranks`: the processes, whose output is read as text, in the order in which they were started."""

    def __init__(self, limit):
        self.ranks, self.limit = [], limit

    def ends(self, first=None):
        """(exit status, output) of each, or of the first `first`. Raises subprocess.TimeoutExpired where one takes longer than the limit, in seconds."""
        return [(one.communicate(timeout=self.limit)[0], one.returncode)[::-1] for one in self.ranks[:first]]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for one in self.ranks:
            one.kill()
            one.communicate()
