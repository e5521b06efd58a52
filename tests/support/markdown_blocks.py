# SPDX-License-Identifier: Apache-2.0
"""The fenced blocks of a Markdown page."""
import dataclasses
import re

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclasses.dataclass
class Block:
    """What stands between two fences, the language behind the first of them, and the line of the page where it begins."""
    language: str
    text: str
    line: int


def blocks(page):
    """The blocks of a page's text, in their order."""
    return [Block(m.group(1), m.group(2), page.count("\n", 0, m.start()) + 1) for m in FENCE.finditer(page)]
