#!/usr/bin/env python3
"""Checks that nothing is installed which no user needs: each header below include/ is one that users name, or is included by one.

Usage: installed.py ROOT. Prints each other header; exit status 1 if there is one. It belongs to lib/, in the folder of the same name.
"""
import fnmatch
import pathlib

from tree import closure, run, sources

INCLUDE = pathlib.Path("include/chorale")

# The headers that users name, and why they do.
USER = {
    "chorale.hpp": "everything",
    "communicator.hpp": "a communicator, for those who choose what they include",
    "policies.hpp": "its template arguments, for programs that compose them",
    "request.hpp": "nonblocking calls",
    "plan.hpp": "calls that are prepared once and made as often as one likes",
    "window.hpp": "one-sided access",
    "sparse_alltoall.hpp": "data for ranks that do not know from whom it comes",
    "registered_array.hpp": "registered memory",
    "bench.hpp": "measuring an algorithm of one's own",
    "transport/concepts.hpp": "what an algorithm of one's own may use of a transport, and what a transport has to offer",
    "transport/assembled.hpp": "a transport of one's own, from its parts",
    "transport/rc.hpp": "a transport to choose",
    "transport/rc_send_receive.hpp": "a transport to choose",
    "transport/ud.hpp": "a transport to choose",
    "transport/ud_rdma.hpp": "a transport to choose",
    "transport/hybrid.hpp": "a transport to choose",
    "algorithm/*.hpp": "an algorithm to choose, or to make one of one's own from",
    "topology/*.hpp": "rank arithmetic for algorithms of one's own",
    "bootstrap/*.hpp": "how a program starts its ranks, and what a bootstrap of one's own has to offer",
    "simulation/*.hpp": "ranks in virtual time",
    "core/config.hpp": "the settings",
    "core/error.hpp": "what calls throw",
    "model/tuning.hpp": "what `automatic` and `standard` choose by",
    "model/resources.hpp": "the formulas of docs/resources.md, for planning a machine",
    "statistics.hpp": "the statistics of a communicator",
    "observing.hpp": "hooks of profilers",
    "verbs/soft_counters.hpp": "what soft0 has seen, for tests of a user's own (docs/deferred-engine.md)",
}


def is_named(header):
    """Whether users name this header (a path below include/chorale)."""
    return any(fnmatch.fnmatchcase(str(header), pattern) for pattern in USER)


def offences(root):
    """Every installed header that no user needs, and every pattern that means none, as lines of text."""
    headers = list(sources(root, INCLUDE))
    inside = [header.relative_to(INCLUDE) for header in headers]
    needed = closure(root, (header for header, name in zip(headers, inside) if is_named(name)))
    unused = [pattern for pattern in USER if not any(fnmatch.fnmatchcase(str(name), pattern) for name in inside)]
    return ([f"{header}: no header that users name includes it: it belongs to lib/{name.parent}"
             for header, name in zip(headers, inside) if header not in needed] +
            [f"tests/style/installed.py: there is no header {pattern}" for pattern in unused])


if __name__ == "__main__":
    run(offences, lambda root: sources(root, INCLUDE), "installed headers")
