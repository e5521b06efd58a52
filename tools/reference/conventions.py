# SPDX-License-Identifier: Apache-2.0
"""The meaning of names that is the same wherever they occur: described here once, for all classes that have them because of a concept or a C++ convention.

`meaning(found, header, lines)` returns the description, or None for a name that must be described where it is declared.
"""
import re

from . import headers

CONCEPTS = headers.INCLUDE / "chorale/transport/concepts.hpp"

# The members of every algorithm (`algorithm_policy` and `operation_traits`).
ALGORITHM = {
    "implements": "The operation that this algorithm implements.",
    "also": "The operation of calls that it serves besides, such as those of uneven blocks.",
    "runs_on": "Whether the algorithm runs over a transport of type `T`: whether that models the concepts which it uses.",
    "uneven": "Whether it serves calls in which the blocks of ranks differ in size.",
    "evaluates": "In which order, and with which brackets, it combines the operands: what decides over the bits of sums of floating point numbers.",
    "suits": "Whether the memory that the algorithm wants is there; the same on all ranks. `automatic` leaves it out where this is false.",
    "needs_multicast": "Whether it runs only where the transport has multicast.",
    "run": "The algorithm, as a coroutine of one rank: `net` is the transport and `now` the call. The arguments behind these are those that "
           "`operation_traits` names for the operation. It throws what the transport throws.",
}
# The members of a range of steps, or of its iterator.
RANGE = {
    "size": "How many there are.", "empty": "Whether there are none.", "operator[]": "The one with this index, from 0 on.",
    "begin": "The first, for a loop.", "end": "Behind the last, for a loop.",
    "value_type": "The type of one.", "reference": "What an iterator gives.", "difference_type": "The type of a distance.",
    "iterator_category": "As the standard library asks.", "iterator_concept": "As the standard library asks.",
    "operator*": "The one at which the iterator is.", "operator++": "Goes on to the next.",
}
# Rank arithmetic.
TOPOLOGY = {
    "is_root": "Whether this rank is the root.", "children": "The ranks below this one, in the order in which a message goes down.",
    "to": "The rank to which this one sends, -1 if there is none.", "from": "The rank from which this one receives, -1 if there is none.",
}
# The members of a bootstrap (`bootstrap::group`).
GROUP = {
    "rank": "This rank, from 0 on.", "size": "How many ranks there are.", "job": "A text that is the same on all ranks of a job and differs between jobs.",
    "describe": "How the group came to be, in a sentence: a launcher, a singleton.",
    "exchange": "Gives `mine` to all ranks and returns what each of them gave, in the order of the ranks. Collective. It throws `error` with "
                "`errc::bootstrap_failed` when `deadline` passes first, unless that is zero.",
}
PART_OF_RANGE = re.compile(r"(child_range|backwards|index_iterator)$")
# Members of transports for the library's calls, which are public since calls are not friends.
FOR_CALLS = {
    "use": "which thread is in a call", "dependent_objects": "windows and arrays, which end before the transport does", "begin": "a call begins and gets its number",
    "complete": "a call is over", "current": "the call that goes on", "fail": "poisons the communicator, and tells all ranks why",
    "withdraw_after": "puts the memory of the user out of reach, since a call fails", "labelled": "an error with the name of the communicator in its text",
    "require_sound": "throws `error` `errc::poisoned` if a call has failed before",
    "require_whole": "throws what an await failed with, or `errc::misuse` for a forgotten `co_await`",
    "is_poisoned": "whether a call has failed", "label": "what errors call the communicator; empty: it has no name", "set_label": "sets that, on this rank",
    "job": "a number that is the same on all ranks of the communicator",
    "ask_for_algorithm": "where observers learn which algorithm an operation takes", "tell_choice": "tells observers what was chosen, and why",
    "name_algorithms": "how algorithms are called in errors", "algorithm_of": "the algorithm that serves an operation, for errors",
    "progress": "reads what has come; throws `error` if a peer is lost", "progress_all": "the same, and raises failures that others report",
    "pace": "how to wait here", "wait": "waits until `ready()` for `peer`; throws `error` `errc::peer_lost`, `errc::deadline`",
    "park": "suspends a coroutine of a nonblocking call until `ready(awaiter)`", "rethrow_parked_failure": "throws what ended a parked call",
    "is_over": "whether a posted message has been moved", "give_up": "lets go of the memory of a posted message",
}
TRAIT = "As the primary template says of `{}`."
CONCEPT = "As a concept of `transport/concepts.hpp` asks."
COMPARISON = re.compile(r"operator(==|<=>|!=|<|>|<=|>=)$")


def special_member(name, own, rest, declaration):
    """Whether this is a default constructor, or a copy or move operation."""
    argument = re.match(r"\((.*?)\)", rest)
    return name in (own, "operator=") and bool(re.search(r"\(\)( const)?( noexcept)? ?= ?default$", declaration)
                                              or argument and re.fullmatch(rf"(const )?{own}(<.*>)? ?&&?\w*", argument[1]))


def page_of_call(name):
    """A link to the page of a call, for a Doxygen comment; empty for a call without a page."""
    return f' <a href="../calls/{name}.html">Parameters, errors, cost and an example.</a>' if (headers.ROOT / f"docs/calls/{name}.md").is_file() else ""


def form_of_call(name, names, declaration):
    """The description of `ibroadcast` and `plan_broadcast` in terms of `broadcast`, and of a call that returns what another one writes."""
    if f"i{name}" in names and not declaration.startswith("void "):
        return f"The same, with the result returned.{page_of_call(name)}"
    if name.startswith("plan_") and name[5:] in names:
        return (f"A plan of `{name[5:]}`: checked and prepared once, made as often as one likes. The buffers stay with the plan as long as it lives."
                f"{page_of_call(name[5:])}")
    if name.startswith("i") and name[1:] in names:
        return (f"`{name[1:]}` without waiting. The buffers belong to the call until the request is over; on what it throws, and how ranks wait for it, "
                f"see `request`.{page_of_call(name[1:])}")
    return None


def meaning(found, header, lines):
    """The meaning of a member's name by convention, or None. `found` has `name`, the following `rest`, `kind`, `scope` and `line`; `lines` are those of its header."""
    name, kind, scope = found["name"], found["kind"], found["scope"]
    own = re.sub(r"<.*", "", scope).strip().rpartition("::")[2]
    declaration = re.split(r"[;{]", " ".join(lines[int(found["line"]) - 1:][:6]))[0].strip()
    names = set(re.findall(r"[\w+]+", " ".join(lines)))
    if kind == "function" and special_member(name, own, found["rest"], declaration):
        return "As usual: an empty object, a copy or a move."
    if " -> " in found["rest"] and scope == "chorale":
        return "From the arguments of a constructor the compiler knows the type."
    if COMPARISON.match(name) and "default" in declaration:
        return "Compares all members in order."
    if scope == "chorale::communicator" and (form := form_of_call(name, names, declaration)):
        return form
    if own == "operation_traits":
        return TRAIT.format(name)
    if header.startswith("chorale/algorithm/") and name in ALGORITHM:
        return ALGORITHM[name]
    if header.startswith("chorale/topology/") and name in TOPOLOGY:
        return TOPOLOGY[name]
    if (header.startswith("chorale/bootstrap/") or own == "group") and name in GROUP:
        return GROUP[name]
    if name == own and PART_OF_RANGE.search(own):
        return "For the class around it."
    if name in RANGE and kind in ("function", "typedef") and ({"begin", "end"} <= names or "operator++" in names):
        return RANGE[name]
    if name == "operator()" and header.startswith(("chorale/core/operators", "chorale/core/placed", "chorale/core/named", "chorale/window")):
        return "The operator, applied to two elements; `a` is of the lower ranks."
    if own == "assembled" and name in FOR_CALLS:
        return f"For the calls of the library: {FOR_CALLS[name]}."
    if (header.startswith("chorale/transport/") or own == "subset") and re.search(rf"[.:>`]{re.escape(name)}\b", CONCEPTS.read_text(encoding="utf-8")):
        return CONCEPT
    return None
