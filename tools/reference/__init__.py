"""The reference pages of the site, and the check that every public name has a description: what Doxygen reads from the headers, as Markdown."""
from . import check, doxygen
from .pages import Reference


def read():
    """The reference, and what is wrong with the comments, as lines of text."""
    compounds, remarks = doxygen.run(lambda refid: f"ref:{refid}")
    missing = check.complete(compounds)
    pages = Reference(compounds)
    return pages, [*remarks, *missing, *(f"tools/reference/pages.py: the call {name} is on no operation's page" for name in pages.uncovered())]
