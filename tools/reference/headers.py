# SPDX-License-Identifier: Apache-2.0
"""The headers that the reference describes: those that users name, and those of the types that they pass to calls.

`include/chorale/README.md` lists the former, and `tests/style/installed.py` checks that list. The other headers belong to transports, calls and verbs,
and nothing outside the library names them.
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INCLUDE = ROOT / "include"
sys.path.insert(0, str(ROOT / "tests" / "style"))
import installed  # noqa: E402

# Other headers in the reference: types that calls take and return, and the layers of the configuration.
ALSO = ("bench/aligned_floats.hpp", "bench/contestant.hpp", "bench/measure.hpp", "bench/plan.hpp", "bench/statistics.hpp", "calls/parts.hpp",
        "calls/split.hpp", "calls/window_operand.hpp", "core/arguments.hpp", "core/blocks.hpp", "core/byte_operator.hpp", "core/call.hpp", "core/elements.hpp", "core/named.hpp",
        "core/neighbours.hpp", "core/operators.hpp", "core/placed.hpp", "core/reduction.hpp", "core/stall_report.hpp", "core/strided.hpp", "core/task.hpp", "core/types.hpp", "transport/observers/observer.hpp")
# Headers that users name but that only combine others, which have their own pages.
NOT = ("algorithm/allgather/within.hpp", "algorithm/exchange/manifest.hpp", "algorithm/exchange/neighbour.hpp", "algorithm/read_operands.hpp",
       "algorithm/reduce/put_operands.hpp", "algorithm/agreed.hpp", "algorithm/evaluation.hpp", "algorithm/host_slots.hpp", "algorithm/shared_slots.hpp",
       "transport/connections/rail.hpp")


def described():
    """The described headers, as paths."""
    below = INCLUDE / "chorale"
    names = [path.relative_to(below) for path in sorted(below.rglob("*.hpp"))]
    return [below / name for name in names
            if (installed.is_named(name) or name.as_posix() in ALSO) and name.as_posix() not in NOT]
