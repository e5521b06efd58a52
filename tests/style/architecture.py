#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that docs/architecture.svg, the picture of the rooms, agrees with the includes; redraws it with --draw.

Usage: architecture.py ROOT [--draw]. rooms.py defines the rooms; an arrow means that files of one room include files of the other. Arrows
that other paths imply are omitted. Rooms must not include each other in a cycle, and docs/architecture.md must name each. Drawing needs
graphviz (dot). Checking does not, and is independent of its version: it reads rooms and arrows from the titles in the picture.
"""
import html
import pathlib
import re
import subprocess
import sys

from rooms import ROOMS, TOP, room_of
from tree import included, library, reachable, run

PICTURE = pathlib.Path("docs/architecture.svg")
PAGE = pathlib.Path("docs/architecture.md")
TITLE = re.compile(r'class="(node|edge)">\s*<title>([^<]*)</title>')
COLOURS = {"transport": "#fff3d6", "algorithm": "#dff0dc", "verbs": "#dde8f7"}
FAMILY = {"topology": "algorithm", "model": "algorithm", "soft": "verbs", "preload": "verbs", "concepts": "transport"}


def includes_of_rooms(root):
    """{room: other rooms that its files include}, for each room that has files."""
    found = {}
    for file in library(root):
        own = room_of(file)
        targets = found.setdefault(own, set())
        targets.update(other for other in map(room_of, included(root, file)) if other != own)
    found.pop("precompiled", None)
    return found


def beyond(graph, start):
    """The rooms that can be reached from a room by one or more arrows."""
    return reachable(graph.get(start, ()), lambda room: graph.get(room, ()))


def circles(graph):
    """The rooms that can reach themselves."""
    return sorted(room for room in graph if room in beyond(graph, room))


def arrows(graph):
    """(from, to) of each arrow that no other path implies; the graph must have no cycles."""
    return {(own, to) for own, targets in graph.items() for to in targets
            if not any(to in beyond(graph, via) for via in targets - {to})}


def described(room):
    return "chorale.hpp, communicator, window" if room == TOP else ROOMS[room].what if room in ROOMS else ""


def dot(graph):
    """The graph in graphviz's language, narrow enough to be readable on a phone; tooltips explain the rooms."""
    lines = ["digraph rooms {", "  graph [rankdir=TB, nodesep=0.1, ranksep=0.3, margin=0]",
             '  node [shape=box, style="filled,rounded", fontname="Helvetica", fontsize=14, margin="0.07,0.05", height=0.3, width=0.5]',
             '  edge [color="#666666", arrowsize=0.7]']
    for room in sorted(graph):
        colour = COLOURS.get(FAMILY.get(room, room.split("/")[0]), "#f4f4f4")
        name = room.replace("/", "/\\n")
        lines.append(f'  "{room}" [fillcolor="{colour}", label="{name}", tooltip="{room}: {described(room)}"]')
    lines += [f'  "{own}" -> "{to}"' for own, to in sorted(arrows(graph))]
    return "\n".join(lines + ["}", ""])


def drawn(text):
    """(rooms, arrows) of a picture."""
    titles = [(kind, html.unescape(title)) for kind, title in TITLE.findall(text)]
    return ({title for kind, title in titles if kind == "node"},
            {tuple(title.split("->")) for kind, title in titles if kind == "edge"})


def offences(root):
    """Differences between the includes and the picture or the page, as lines of text."""
    graph = includes_of_rooms(root)
    found = [f"{room}: includes itself through other rooms" for room in circles(graph)]
    if found:
        return found
    picture = (root / PICTURE).read_text(encoding="utf-8")
    width = int(re.search(r'<svg width="(\d+)pt"', picture).group(1))
    if width > 420:
        found.append(f"{PICTURE}: {width} points wide: on a telephone, which makes it 390 pixels wide, its words would be smaller than 13 pixels")
    rooms, shown = drawn(picture)
    page = (root / PAGE).read_text(encoding="utf-8")
    wanted = arrows(graph)
    found += [f"{PICTURE}: the room {room} is missing" for room in sorted(set(graph) - rooms)]
    found += [f"{PICTURE}: there is no room {room}" for room in sorted(rooms - set(graph))]
    found += [f"{PICTURE}: an arrow is missing: {own} -> {to}" for own, to in sorted(wanted - shown)]
    found += [f"{PICTURE}: there is an arrow too many: {own} -> {to}" for own, to in sorted(shown - wanted)]
    found += [f"{PAGE}: does not name the room {room}" for room in sorted(graph) if f"`{room}`" not in page and room != TOP]
    if any(line.startswith(str(PICTURE)) for line in found):
        found.append("redraw it: tests/style/architecture.py . --draw")
    return found


def draw(root):
    picture = subprocess.run(["dot", "-Tsvg"], input=dot(includes_of_rooms(root)), text=True, capture_output=True, check=True).stdout
    (root / PICTURE).write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[2:] == ["--draw"]:
        draw(pathlib.Path(sys.argv[1]))
    else:
        run(offences, library, "files in rooms")
