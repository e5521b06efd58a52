# SPDX-License-Identifier: Apache-2.0
"""Reduces a gnuplot picture to fewer elements with the same marks: gnuplot writes a group with all attributes for each change of colour or width,
most of them empty, and all kinds of points whether used or not."""
import re
import textwrap
import xml.etree.ElementTree as tree

SVG = "{http://www.w3.org/2000/svg}"
LINK = "{http://www.w3.org/1999/xlink}href"
WIDTH = 150
INITIAL = {"stroke-width": "1.00", "stroke-linecap": "butt", "stroke-linejoin": "miter", "color": "black", "text-anchor": "start"}
PASSED_ON = {*INITIAL, "fill", "stroke", "font-family", "font-size"}


def joined(outer, inner):
    """The attributes of an element merged with those of the group around it."""
    moved = " ".join(filter(None, (outer.get("transform"), inner.get("transform"))))
    return {**outer, **inner, **({"transform": moved} if moved else {})}


def lighten(element, above):
    """Removes redundant parts: inherited attributes, empty groups, and groups without attributes or with a single element."""
    element.attrib = {name: re.sub(r"\s+", " ", value).strip() for name, value in element.attrib.items() if above.get(name) != value and name != "class"}
    within = above | {name: value for name, value in element.attrib.items() if name in PASSED_ON}
    left = []
    for child in element:
        lighten(child, within)
        if child.tag != SVG + "g" or len(child) > 1 and child.attrib:
            left.append(child)
        elif len(child) == 1:
            child[0].attrib = joined(child.attrib, child[0].attrib)
            left.append(child[0])
        else:
            left += child
    element[:] = left


def lean(picture):
    """The reduced picture as text; returned unchanged unless it has the format of gnuplot 5.4. @throws ParseError"""
    for prefix, name in (("", SVG), ("xlink", LINK)):
        tree.register_namespace(prefix, name[1:].partition("}")[0])
    root = tree.fromstring(picture)
    canvas = root.find(f"{SVG}g[@id='gnuplot_canvas']")
    if canvas is None:
        return picture
    for element in [root, *canvas.findall(f"{SVG}g")]:  # gnuplot's own titles and ids of the picture and its curves
        element[:] = [child for child in element if child.tag not in (SVG + "title", SVG + "desc")]
        element.attrib.pop("id", None)
    font = next((group.attrib for group in canvas.iter(SVG + "g") if "font-family" in group.attrib), {})
    common = {"fill": "none", "stroke": "currentColor", **{name: font[name] for name in font if name.startswith("font-")}}
    marks = tree.Element(SVG + "g")
    marks[:] = canvas.findall(f"{SVG}g")
    lighten(marks, INITIAL | common)
    marks.attrib = common
    defined = canvas.find(SVG + "defs")
    canvas[:] = [one for one in canvas if one.tag != SVG + "g"] + [marks]
    while defined is not None and (unused := [one for one in defined if f"#{one.get('id')}" not in {use.get(LINK) for use in root.iter(SVG + "use")}]):
        for one in unused:
            defined.remove(one)
    tree.indent(root, " ")
    lines = tree.tostring(root, encoding="unicode").splitlines()
    return "\n".join(textwrap.fill(line, WIDTH, break_long_words=False, break_on_hyphens=False) if " d=" in line else line for line in lines) + "\n"
