#!/usr/bin/env python3
"""Checks that every #include goes downwards through the layers. Usage: layering.py ROOT

Prints each line that breaks a rule as `file:line: what: why`; exit status 1 if there is one.
"""
import re

from tree import included, includes, library, resolve, run, sources

# What a layer (a folder of include/chorale and of lib) may include besides itself. An entry with a slash is one file.
ALLOWED = {
    "core": set(),
    "topology": {"core"},
    "verbs": {"core"},
    "soft": {"core", "verbs"},
    "preload": {"core", "verbs", "soft"},
    "bootstrap": {"core"},
    "transport": {"core", "verbs", "bootstrap", "model"},
    "algorithm": {"core", "topology", "model", "transport/concepts.hpp"},
    "calls": {"core", "bootstrap", "transport", "algorithm", "request.hpp"},
    "model": {"core", "topology"},
    "bench": {"core"},
    "precompiled": set(),
}
TOP = "the top"  # include/chorale/*.hpp and lib/*.cpp: communicator, request, window, umbrella

# Through any chain of includes, an algorithm must not come to know a transport's means.
HIDDEN_FROM = {"algorithm": {"verbs", "bootstrap"}}

# Headers of other packages that only some folders may include.
FOREIGN = [
    (re.compile(r"^(infiniband|rdma)/"), ("include/chorale/verbs", "lib/verbs", "lib/soft", "lib/preload", "tests/verbs")),
    (re.compile(r"^pmix"), ("lib/bootstrap",)),
]


def layer_of(file):
    """The layer of a file of the tree, TOP, or None for one that is in no layer (a test, an example)."""
    parts = file.parts
    if parts[:2] == ("include", "chorale"):
        parts = parts[2:]
    elif parts[0] == "lib":
        parts = parts[1:]
    else:
        return None
    return parts[0] if len(parts) > 1 else TOP


def check_include(root, file, name, quoted):
    """Why this include breaks a rule; None if it does not."""
    target = resolve(root, file, name, quoted)
    if target is None:
        if name.startswith("chorale/") or (quoted and layer_of(file)):
            return "there is no such file"
        for pattern, folders in FOREIGN:
            if pattern.match(name) and not any(file.is_relative_to(f) for f in folders):
                return "only " + ", ".join(folders) + " may include it"
        return None
    own, other = layer_of(file), layer_of(target)
    if own in (None, TOP) or own == other:
        return None
    if own not in ALLOWED:
        return f"the layer {own} is unknown; add it to ALLOWED in tests/style/layering.py"
    if file.parts[0] == "include" and target.parts[0] == "lib":
        return "a public header includes a private one"
    inside = "/".join(target.parts[2:]) if target.parts[0] == "include" else None
    if other in ALLOWED[own] or inside in ALLOWED[own]:
        return None
    return f"{own} may include only {', '.join(sorted(ALLOWED[own] | {own}))}; this is {other}"


def chain_to(root, file, hidden):
    """A chain of includes from file to a file in one of the hidden layers; None if there is none."""
    seen = {file}
    chains = [[file]]
    while chains:
        chain = chains.pop()
        for target in included(root, chain[-1]):
            if target in seen:
                continue
            if layer_of(target) in hidden:
                return chain + [target]
            seen.add(target)
            chains.append(chain + [target])
    return None


def offences(root):
    """Every break of a rule in the tree, as lines of text."""
    found = []
    for file in sources(root, "include", "lib", "tests", "examples", "tools"):
        for number, name, quoted in includes(root / file):
            why = check_include(root, file, name, quoted)
            if why:
                found.append(f"{file}:{number}: #include of {name}: {why}")
        hidden = HIDDEN_FROM.get(layer_of(file))
        chain = hidden and chain_to(root, file, hidden)
        if chain and len(chain) > 2:
            found.append(f"{file}: reaches {layer_of(chain[-1])}: {' > '.join(map(str, chain))}")
    return found


if __name__ == "__main__":
    run(offences, library, "files in layers")
