#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that docs/guide/from-mpi.md names every function of the installed MPIs that is a collective (persistent or not) or concerns
neighbourhoods, messages to single ranks (also partitioned), requests, one-sided operations, communicators, groups, ports or operators,
and that every function that it names exists in one of them.

Usage: mpi_test.py. Exit status 77 (skipped) if there is no mpi.h.
"""
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "docs/guide/from-mpi.md"
FAMILIES = re.compile(
    r"MPI_(I?(all(gather|reduce|toall)|barrier|bcast|gather|scatter|reduce|scan|exscan|neighbor)|win_|put$|get$|get_acc|accumulate|r(put|get|accumulate)"
    r"|fetch_and_op|compare_and_swap|comm_|group_|intercomm_|cart|graph|dist_graph|topo_|op_|session_|(alloc|free)_mem$|i?sendrecv|aint_|get_address$"
    r"|i?[bsr]?send(_init)?$|i?m?recv(_init)?$|i?m?probe$|p(send|recv)_init$|pready|parrived|buffer_|get_(count|elements)$|message_"
    r"|start|wait(all|any|some)?$|test(all|any|some|_cancelled)?$|cancel$|request_|grequest_|dims_create|(open|close)_port|(un)?publish_name|lookup_name)",
    re.IGNORECASE)
# Functions of one implementation only, callbacks and constants.
NOT_FUNCTIONS = re.compile(r"_(c|function|fn|x)$|_(DUP|NULL|NULL_\w+)_FN$|^MPI_Comm_(spawn_errors|iagree|agree|shrink|revoke|failure\w+|ack_\w+|get_failed|ishrink)|_internal")


def functions():
    """The installed MPI headers, and the names of the functions in them."""
    headers = [*pathlib.Path("/usr/lib").glob("*/openmpi/include/mpi.h"), *pathlib.Path("/usr/include").glob("*/mpich/mpi*.h")]
    text = "\n".join(header.read_text(encoding="utf-8", errors="replace") for header in headers)
    return headers, {name for name in re.findall(r"\b(MPI_[A-Z][a-z]\w*)\s*\(", text) if not NOT_FUNCTIONS.search(name)}


def main():
    headers, all_of_them = functions()
    if not headers:
        print("skipped: neither Open MPI's nor MPICH's mpi.h is here (tools/install-dependencies --ci)")
        sys.exit(77)
    named = set(re.findall(r"`(MPI_[A-Z][a-z]\w*)`", PAGE.read_text(encoding="utf-8")))
    wanted = {name for name in all_of_them if FAMILIES.match(name)}
    missing, unknown = sorted(wanted - named), sorted(named - all_of_them)
    print(f"{len(wanted)} functions in {', '.join(map(str, headers))}; the page names {len(named)}")
    # If only one of the MPIs is installed, a function of the other cannot be distinguished from a misspelt name.
    complete = any("mpich" in str(header) for header in headers) and any("openmpi" in str(header) for header in headers)
    if missing or (unknown and complete):
        sys.exit(f"from-mpi.md lacks {missing}, and names what no MPI has: {unknown}")


if __name__ == "__main__":
    main()
