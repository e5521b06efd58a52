# SPDX-License-Identifier: Apache-2.0
"""All figures, paper by paper."""
import importlib
import pkgutil
import re

import papers_figures


def all_figures():
    """The figures of each module p1, p2, ... of this folder, in order."""
    modules = sorted(module.name for module in pkgutil.iter_modules(papers_figures.__path__)
                     if re.fullmatch(r"p\d.*", module.name))
    return [one for name in modules for one in importlib.import_module(f"papers_figures.{name}").FIGURES]


def find(figures, wanted):
    """The figures that a word names: a figure, a part of one (P1.7a belongs to P1.7) or a paper. @throws KeyError"""
    def named(word):
        return [one for one in figures if word in (name.lower() for name in (one.name, *one.also))]
    word = wanted.lower()
    found = named(word) or [one for one in figures if one.paper.lower() == word] or named(re.sub(r"\(?[a-z]\)?$", "", word))
    if not found:
        raise KeyError(wanted)
    return found


def all_claims(figures):
    """[(figure, claim)]"""
    return [(one, claim) for one in figures for claim in one.claims]


def left_out():
    """[(claim, why it has no row)] of the papers' other claims."""
    modules = sorted(module.name for module in pkgutil.iter_modules(papers_figures.__path__) if re.fullmatch(r"p\d.*", module.name))
    return [said for name in modules for said in importlib.import_module(f"papers_figures.{name}").NO_ROWS]
