# SPDX-License-Identifier: Apache-2.0
"""The output of a contestant as figures, after a plausibility check."""
import dataclasses
import json
import math

from measuring.process import Refused

LEAST = 0.001  # microseconds: the least plausible time of a call


@dataclasses.dataclass(frozen=True, order=True)
class Point:
    """A row of the table."""
    ranks: int
    operation: str
    bytes: int

    def text(self):
        """The point as named below a table."""
        return self.operation if self.operation == "barrier" else f"{self.operation} {self.bytes} B"


@dataclasses.dataclass(frozen=True)
class Figure:
    """One median of one run, in microseconds."""
    point: Point
    algorithm: str
    value: float
    floor: float = None


def points_of(ranks, operations, size):
    """The rows of a run at a size; those of a barrier have no size."""
    return [Point(ranks, operation, 0 if operation == "barrier" else size) for operation in operations]


def read(file, points, measure, limit):
    """(facts about the library, facts about the machine, [Figure], {point: why it has none}). `measure` is the column to use.

    `limit` is the time limit of the run in seconds, an upper bound for each call. @throws Refused if nothing can be used.
    """
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        ranks, rows, about = document["ranks"], document["rows"], document["about"]
        named = [(row["operation"], row["bytes"], str(row["algorithm"]), row.get(measure), row.get("floor")) for row in rows]
        facts, machine = ({str(name): " ".join(str(value).split()) for name, value in some.items()} for some in (about, document.get("machine", {})))
    except FileNotFoundError as e:
        raise Refused("wrote no result") from e
    except (OSError, ValueError) as e:
        raise Refused(f"wrote a result that is no JSON: {e}") from e
    except (KeyError, TypeError, AttributeError) as e:
        raise Refused(f"wrote a result that lacks ranks, rows or what belongs to a row ({type(e).__name__}: {e})") from e
    if ranks != points[0].ranks:
        raise Refused(f"ran on {ranks!r} ranks, not {points[0].ranks}: its launcher and its library do not belong together")
    figures, without = [], {}
    for point in points:
        found = [row for row in named if row[:2] == (point.operation, point.bytes)]
        wrong = [problem for problem in (implausible(row[3], limit) for row in found) if problem]
        if not found:
            without[point] = "wrote no figure"
        elif wrong:
            without[point] = wrong[0]
        else:
            figures += [Figure(point, algorithm, value, None if implausible(floor, limit) else floor)
                        for _, _, algorithm, value, floor in found]
    return facts, machine, figures, without


def implausible(value, limit):
    """Why a number of microseconds cannot be the time of a call; empty if it can."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return f"wrote {value!r} where a time belongs"
    if value < LEAST:
        return f"wrote {value:g} us, less than any call takes"
    if value > limit * 1e6:
        return f"wrote {value:g} us, more than the whole run took"
    return ""
