"""Finds in Markdown what the site needs: fenced code, headings, and the anchors that GitHub gives to headings."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

# The pattern has one group, so `split` returns prose and fenced code alternately.
FENCED = re.compile(r"(^ *```.*?^ *```[ ]*$)", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)
COMMENT = re.compile(r"^<!--.*?-->\n?", re.DOTALL | re.MULTILINE)


class Heading(NamedTuple):
    level: int
    text: str
    start: int  # offset of the heading's line in the text


def in_prose(text: str, change: Callable[[str], str]) -> str:
    """Returns `text` with `change` applied to all parts except fenced code."""
    parts = FENCED.split(text)
    parts[::2] = map(change, parts[::2])
    return "".join(parts)


def headings(text: str) -> Iterator[Heading]:
    """Yields the headings. Ignores lines in fenced code that look like headings."""
    blanked = FENCED.sub(lambda code: " " * len(code[0]), text)
    for found in HEADING.finditer(blanked):
        yield Heading(len(found[1]), found[2], found.start())


def slug(heading: str) -> str:
    """Returns the anchor that GitHub and MyST give to a heading that occurs once on its page."""
    shown = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", shown.strip().lower()).replace(" ", "-")


def promoted(text: str) -> str:
    """Returns `text` with each heading one level higher."""
    return in_prose(text, lambda prose: re.sub(r"^#(#+ )", r"\1", prose, flags=re.MULTILINE))


def without_comments(text: str) -> str:
    return in_prose(text, lambda prose: COMMENT.sub("", prose))
