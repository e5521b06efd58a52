# SPDX-License-Identifier: Apache-2.0
"""The rooms of the library: the purpose of each, and the others that it may include.

A room is a folder below include/chorale together with the folder of the same name below lib, without subfolders that are rooms themselves.
Two rooms also have single files, which programs include by a short path. `layering.py` checks the includes by this table, and
`architecture.py` draws it.
"""
import typing


class Room(typing.NamedTuple):
    what: str          # its purpose, in a few words
    may: frozenset     # the other rooms that it may include
    files: tuple = ()  # further files that belong to it, without their endings


def room(what, may="", files=""):
    return Room(what, frozenset(may.split()), tuple(files.split()))


TOP = "the top"

# From the lowest to the highest.
ROOMS = {
    "core": room("errors, settings, types, operators, tasks, the clock"),
    "topology": room("rank arithmetic: who talks to whom", "core"),
    "model": room("what algorithms cost, what transports take", "core topology"),
    "bootstrap": room("how ranks find each other", "core"),
    "verbs": room("devices: RAII over the verbs", "core"),
    "soft": room("soft0, the software device", "core verbs"),
    "preload": room("soft0 for unmodified programs", "core verbs soft"),
    "simulation": room("ranks as fibers in virtual time", "core verbs bootstrap concepts"),
    "concepts": room("what is used of a transport", "core", files="transport/concepts transport/endpoint_user"),
    "algorithm": room("collective algorithms, one a file", "core topology model concepts"),
    "transport/group": room("who belongs to a group, and where", "core verbs bootstrap"),
    "transport/status": room("what peers and other processes can query", "core transport/group"),
    "transport/wire": room("device ports, datagrams, the control channel", "core verbs transport/group transport/status"),
    "transport/observers": room("hooks, statistics, log, trace", "core model transport/status"),
    "transport/memory": room("registered memory, and what is kept for each peer", "core verbs concepts transport/wire"),
    "transport/liveness": room("failures, long waits, stall reports",
                               "core concepts transport/group transport/status transport/wire transport/observers transport/memory"),
    "transport/multicast": room("reliable multicast", "core verbs transport/wire transport/liveness"),
    "transport/joining": room("how a rank joins a group", "core verbs bootstrap model transport/group transport/wire transport/observers transport/memory"),
    "transport/endpoint": room("a rank in its group: its parts, and progress",
                               "core bootstrap concepts transport/group transport/wire transport/observers transport/memory transport/liveness "
                               "transport/multicast transport/joining"),
    "transport/windows": room("one-sided access", "core verbs concepts transport/wire transport/observers transport/memory transport/liveness "
                              "transport/endpoint"),
    "transport/connections": room("reliable connections, and what goes over them",
                                  "core verbs concepts transport/wire transport/observers transport/memory transport/endpoint transport/windows"),
    "transport/reliable": room("streams of datagrams, memory by datagrams",
                               "core concepts transport/group transport/wire transport/memory transport/liveness transport/endpoint transport/windows"),
    "transport/paths": room("a connection or datagrams, for each peer", "core concepts transport/connections transport/reliable"),
    "transport": room("the transports, each from its parts, a page each",
                      "core concepts transport/wire transport/memory transport/joining transport/endpoint transport/connections transport/reliable transport/paths"),
    "calls": room("what a call checks, and how it is run",
                  "core bootstrap concepts transport transport/group transport/observers transport/memory transport/joining transport/endpoint "
                  "transport/windows algorithm", files="request"),
    "bench": room("measuring collectives", "core"),
    "precompiled": room("what our own targets compile once"),
}


def room_of(file):
    """The room of a file of the tree, TOP, or None for a file in no room (a test, an example).

    A folder that is not in ROOMS, nor below one that is, is a room with its own name.
    """
    if file.parts[:2] == ("include", "chorale"):
        inside = file.parts[2:]
    elif file.parts[0] == "lib":
        inside = file.parts[1:]
    else:
        return None
    stem = "/".join(inside).rsplit(".", 1)[0]
    for name, found in ROOMS.items():
        if stem in found.files:
            return name
    for length in range(len(inside) - 1, 0, -1):
        name = "/".join(inside[:length])
        if name in ROOMS:
            return name
    return inside[0] if len(inside) > 1 else TOP
