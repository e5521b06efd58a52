#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every #include goes downwards through the rooms of rooms.py. Usage: layering.py ROOT

Prints each line that breaks a rule as `file:line: what: why`; exit status 1 if there is one.
"""
import re

from rooms import ROOMS, TOP, room_of
from tree import included, includes, library, resolve, run, sources

# An algorithm must not include the internals of transports, not even indirectly.
HIDDEN_FROM = {"algorithm": {"verbs", "bootstrap"}}

# Headers of other packages that only some folders may include.
FOREIGN = [
    (re.compile(r"^(infiniband|rdma)/"), ("include/chorale/verbs", "lib/verbs", "lib/soft", "lib/preload", "lib/simulation/device", "tests/verbs", "tests/simulation")),
    (re.compile(r"^pmix"), ("lib/bootstrap",)),
]


def check_include(root, file, name, quoted):
    """Why this include breaks a rule; None if it does not."""
    target = resolve(root, file, name, quoted)
    if target is None:
        if name.startswith("chorale/") or (quoted and room_of(file)):
            return "there is no such file"
        for pattern, folders in FOREIGN:
            if pattern.match(name) and not any(file.is_relative_to(f) for f in folders):
                return "only " + ", ".join(folders) + " may include it"
        return None
    if file.parts[0] == "include" and target.parts[0] == "lib":
        return "a public header includes a private one"
    own, other = room_of(file), room_of(target)
    if own in (None, TOP) or own == other:
        return None
    if own not in ROOMS:
        return f"the room {own} is unknown; add it to ROOMS in tests/style/rooms.py"
    if other in ROOMS[own].may:
        return None
    return f"{own} may include only {', '.join(sorted(ROOMS[own].may | {own}))}; this is {other}"


def chain_to(root, file, hidden):
    """A chain of includes from file to a file in one of the hidden rooms; None if there is none."""
    seen = {file}
    chains = [[file]]
    while chains:
        chain = chains.pop()
        for target in included(root, chain[-1]):
            if target in seen:
                continue
            if room_of(target) in hidden:
                return chain + [target]
            seen.add(target)
            chains.append(chain + [target])
    return None


def offences(root):
    """Every violation of a rule in the tree, as lines of text."""
    found = []
    for file in sources(root, "include", "lib", "tests", "examples", "tools"):
        for number, name, quoted in includes(root / file):
            why = check_include(root, file, name, quoted)
            if why:
                found.append(f"{file}:{number}: #include of {name}: {why}")
        hidden = HIDDEN_FROM.get(room_of(file))
        chain = hidden and chain_to(root, file, hidden)
        if chain and len(chain) > 2:
            found.append(f"{file}: reaches {room_of(chain[-1])}: {' > '.join(map(str, chain))}")
    return found


if __name__ == "__main__":
    run(offences, library, "files in rooms")
