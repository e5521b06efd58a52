# SPDX-License-Identifier: Apache-2.0
"""Markdown tables, and pages with a generated part between two marks."""
from measuring.process import Refused


def cells(*texts):
    """A row of a Markdown table."""
    return "| " + " | ".join(str(text).replace("|", "\\|") for text in texts) + " |"


def head(*texts, words=1):
    """The first two lines of a table; all columns but the first `words` are numeric."""
    return f"{cells(*texts)}\n|{'---|' * words}{'---:|' * (len(texts) - words)}"


def split(file, name):
    """(text before, between and after the marks of that name; the first and the last part include the marks). @throws Refused, OSError"""
    text = file.read_text(encoding="utf-8")
    begin, end = f"<!-- made by tools/measure: {name} -->\n", f"<!-- end of {name} -->"
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise Refused(f"{file} does not have the lines '{begin.strip()}' and '{end}', once each and in this order")
    start = text.index(begin) + len(begin)
    return text[:start], text[start:text.index(end)], text[text.index(end):]


def put(file, name, made):
    """Inserts text between these marks. @throws Refused, OSError"""
    before, _, behind = split(file, name)
    file.write_text(before + made.strip() + "\n" + behind, encoding="utf-8")


def show(page, lines):
    """Prints lines, and inserts them into the page (file, name) if given. @returns the exit status"""
    made = "\n".join(lines)
    print(made)
    if page:
        put(*page, made)
    return 0
