#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the documentation site and checks it: pages, internal links, the reference, the search index, and that nothing is loaded from another server.

Usage: site_test.py. Exit status 77 (skipped) if there is no mkdocs.
"""
import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Page(html.parser.HTMLParser):
    """The links, loaded resources and anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.anchors = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if "id" in given:
            self.anchors.add(given["id"])
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag in ("script", "img", "iframe") and given.get("src"):
            self.loads.append(given["src"])
        if tag == "link" and given.get("href") and given.get("rel") != "canonical":
            self.loads.append(given["href"])


def broken(site):
    """Broken links, and resources of other servers, on all pages."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    for path, page in pages.items():
        for target in page.links + page.loads:
            url = urllib.parse.urlsplit(target)
            if url.scheme or url.netloc:
                if target in page.loads and url.scheme != "javascript":
                    yield f"{path.relative_to(site)} loads {target}"
                continue
            if path.name == "404.html" or target == "#":
                continue  # this page is served for any address, and links from the root
            there = (path.parent / urllib.parse.unquote(url.path)).resolve() if url.path else path
            if there.is_dir():
                there = there / "index.html"
            if not there.is_file():
                yield f"{path.relative_to(site)} leads to {target}, which is not there"
            # Doxygen links to summaries of private classes, and to friends that it does not show.
            elif url.fragment and site / "reference" not in path.parents and there in pages and urllib.parse.unquote(url.fragment) not in pages[there].anchors:
                yield f"{path.relative_to(site)} leads to {target}, where there is no such heading"


def unfound(site):
    """Pages below docs/ whose titles are not in the search index."""
    entries = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))["docs"]
    text = {}
    for entry in entries:
        page = entry["location"].split("#")[0]
        text[page] = text.get(page, "") + entry["title"] + entry["text"]
    for source in sorted((ROOT / "docs").rglob("*.md")):
        page = source.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
        title = re.search(r"^# (.+)$", source.read_text(encoding="utf-8"), re.MULTILINE).group(1).replace("`", "")
        if title not in text.get(page, ""):
            yield f"the search does not know {title!r} of {page}"


def missing_reference(site):
    """Operations and classes without a page that the search finds, and missing links to the reference."""
    entries = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))["docs"]
    known = {entry["location"]: f"{entry['title']} {entry['text']}" for entry in entries}
    for name, words in {"namespacechorale_1_1allreduce": ("rabenseifner", "calls of a communicator"), "namespacechorale_1_1scan": ("exscan", "by_shares"),
                        "classchorale_1_1communicator": ("iallreduce", "plan_allreduce", "allgatherv", "iexchange", "explain", "without waiting"),
                        "structchorale_1_1broadcast_1_1binomial": ("Whether the algorithm runs over a transport",),
                        "classchorale_1_1window": ("put_notify",), "namespacechorale": ("peer_lost",),
                        "conceptchorale_1_1element": ("chorale::element",)}.items():
        for word in words:
            if word not in known.get(f"reference/{name}.html", ""):
                yield f"the search does not know {word} of reference/{name}.html"
    if 'href="../calls/allreduce.html"' not in (site / "reference/classchorale_1_1communicator.html").read_text(encoding="utf-8"):
        yield "the reference of communicator does not lead to the pages of its calls"
    start = (site / "guide/start.html").read_text(encoding="utf-8")
    if "../reference/communicator_8hpp.html" not in start:
        yield "guide/start.html does not lead to the reference of communicator.hpp"


def wrong_menu(site):
    """Whether the menu has every page of the guide, in the order of README.md."""
    there = {path.stem for path in (ROOT / "docs/guide").glob("*.md")}
    named = list(dict.fromkeys(re.findall(r"docs/guide/([\w-]+)\.md", (ROOT / "README.md").read_text(encoding="utf-8"))))
    menu = re.findall(r'<a href="guide/([\w-]+)\.html" class="dropdown-item', (site / "index.html").read_text(encoding="utf-8"))
    if set(named) != there:
        yield f"README.md and docs/guide differ: {sorted(set(named) ^ there)}"
    if menu != named:
        yield f"the menu has {menu}, README.md names {named}"


def ugly(site):
    """Visible defects: code without colours, HTML in search entries, names without links, a menu that does not scroll along."""
    start = (site / "guide/start.html").read_text(encoding="utf-8")
    if not re.search(r'class="codehilite".*<span style="color', start):
        yield "guide/start.html: code has no colours (python3-pygments)"
    if '<script src="../menu.js"' not in start:
        yield "guide/start.html: the page's menu does not follow"
    for entry in json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))["docs"]:
        if re.search("&(lt|gt|amp|quot|#\\d+);", entry["title"]):
            yield f"the search shows {entry['title']!r}"
    for page, name in {"guide/without-launcher.html": "classchorale_1_1bootstrap_1_1tcp.html", "nonblocking.html": "classchorale_1_1request__for.html",
                       "guide/event-loops.html": "namespacechorale.html#"}.items():
        if f"reference/{name}" not in (site / page).read_text(encoding="utf-8"):
            yield f"{page} does not lead to {name}"


# Queries, and their expected first hits.
FIRST = {"allreduce": ("calls/allreduce.html", "reference/namespacechorale_1_1allreduce.html"), "window<T>": ("reference/classchorale_1_1window.html",),
         "chorale::request": ("reference/classchorale_1_1request.html",), "put_notify": ("reference/classchorale_1_1window.html",), "soft0": ("soft0.html",),
         "install": ("guide/start.html#install",), "first program": ("guide/start.html#a-first-program",), "MPI_Allreduce": ("guide/from-mpi.html",),
         "torchrun": ("guide/without-launcher.html#by-torchrun",), "peer_lost": ("guide/errors.html#peer_lost-peer-lost",), "errors": ("guide/errors.html",),
         "chorale-bench --report": ("man/chorale-bench.1.html",)}


def badly_found(site):
    """Queries whose first hit is not the expected page."""
    if shutil.which("node") is None:
        print("the order of hits is not tried: there is no node; install nodejs (tools/install-dependencies --ci)")
        return
    done = subprocess.run(["node", ROOT / "tests/guide/search.js", site, *FIRST], check=True, text=True, stdout=subprocess.PIPE)
    for (query, best), hits in zip(FIRST.items(), json.loads(done.stdout)):
        if not hits or not hits[0].startswith(best):
            yield f"who searches for {query!r} gets {hits[:1]} first, not {' or '.join(best)}"


def main():
    for program in ("mkdocs", "doxygen"):
        if shutil.which(program) is None:
            print(f"skipped: there is no {program} (tools/install-dependencies --ci)")
            sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="chorale-site-") as place:
        site = pathlib.Path(place).resolve() / "site"
        subprocess.run([ROOT / "tools/docs", "--output", site], check=True)
        wrong = [*broken(site), *unfound(site), *missing_reference(site), *wrong_menu(site), *ugly(site), *badly_found(site)]
        print(f"{len(list(site.rglob('*.html')))} pages")
        if wrong:
            sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
