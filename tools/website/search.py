# SPDX-License-Identifier: Apache-2.0
"""The site's search: entries besides mkdocs' pages, and the order of the hits."""
import html
import json
import pathlib
import re
import sys

BEST_FIRST = pathlib.Path(__file__).with_name("best_first.js")

# Changes to mkdocs' search script.
CHANGES = {"this.field('title');": "this.field('title', {boost: 10});", "this.add(doc);": "this.add(doc, {boost: doc.boost});",
           "index.search(query)": "best_first(query)"}
# The weight of a hit, by the first pattern that its address begins with: pages about using calls weigh more than pages about
# the implementation.
WEIGHTS = ((r"calls/", 8), (r"guide/|man/|index\.html|questions|guarantees|operators|nonblocking", 3),
           (r"reference/(index|files|annotated|hierarchy|namespaces|concepts|functions|namespacemembers)|reference/(.*_8hpp\.html|\w+_3_01)", 0.3),
           (r"reference/\w+_1_1(simulation|verbs|bench|model|topology)(_1_1|\.html)|papers|tree/", 0.5), (r"reference/namespace", 3), (r"reference/", 2), (r"", 1))
KIND = re.compile(r" (File|Namespace|Class|Struct|Union|Concept)( Template)? Reference\b.*$")


def text_of(part):
    """The text that a browser shows for a piece of HTML."""
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", part)).split())


def title_of(title):
    """The title of a Doxygen page: name and kind."""
    said = KIND.sub(lambda found: f", {found.group(1).lower()}", text_of(title))
    return said.replace("< ", "<").replace(" >", ">")


def weight(address):
    return next(value for pattern, value in WEIGHTS if re.match(pattern, address))


def names(entry, members):
    """The lower-case name of the page's subject, and those of its members."""
    address = entry["location"]
    name = re.sub(r"<.*", "", entry["title"].rpartition(", ")[0]).rpartition("::")[2] if address.startswith("reference/") else re.sub(r"(\.\d)?\.html$", "", address).rpartition("/")[2]
    return {"name": name.lower(), "members": members.get(address.removeprefix("reference/"), [])}


def repeats_its_page(entry, pages):
    """Whether an entry repeats the title of its page, which has an entry itself."""
    page, _, heading = entry["location"].partition("#")
    return heading and entry["title"] == pages.get(page)


def pages_of_reference(site):
    """Doxygen's pages as entries of the search index."""
    for page in sorted((site / "reference").glob("*.html")):
        title = re.search(r'<div class="title">(.*?)</div></div>', text := page.read_text(encoding="utf-8"), re.DOTALL)
        if title and not page.stem.startswith("dir_") and not page.stem.endswith("-members"):
            body = text_of(text[title.end():text.rindex("<!-- start footer")])
            yield {"location": f"reference/{page.name}", "title": title_of(title.group(1)), "text": re.sub("#include < ?[^>]*> ?", "", body)}


def add(site, addresses, begin):
    """Adds Doxygen's pages to the search index of a site, and ranks the hits.

    @param addresses the addresses of all names in the reference
    @param begin     the main classes, which are also found by their members
    Exits if mkdocs' search differs from the version that this was written for."""
    file, program = site / "search/search_index.json", site / "search/worker.js"
    index = json.loads(file.read_text(encoding="utf-8"))
    index["config"]["separator"] = r"\W+"  # split C++ names into words
    members = {addresses[name]: [one.rpartition("::")[2].lower() for one in addresses if one.startswith(f"{name}::")] for name in begin}
    pages = {entry["location"]: entry["title"] for entry in index["docs"]}
    index["docs"] = [entry for entry in index["docs"] if not repeats_its_page(entry, pages)] + list(pages_of_reference(site))
    for entry in index["docs"]:
        entry["title"], entry["text"] = html.unescape(entry["title"]), html.unescape(entry["text"])
        entry |= {"boost": weight(entry["location"])} | names(entry, members)
    file.write_text(json.dumps(index), encoding="utf-8")
    text = program.read_text(encoding="utf-8")
    for before, after in CHANGES.items():
        if text.count(before) != 1:
            sys.exit(f"tools/docs: this mkdocs has another search: {program} has no {before!r}")
        text = text.replace(before, after)
    program.write_text(text + BEST_FIRST.read_text(encoding="utf-8"), encoding="utf-8")
