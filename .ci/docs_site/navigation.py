"""The site's table of contents: the sections of docs/README.md, each with the pages of its links, in their order."""

import posixpath
import re

from docs_site.markdown import headings
from docs_site.pages import Page

HOME = "README.md"
INDEX = "docs/README.md"
# The caption of all other pages: the index links neither to such a page nor to a README in a folder above the page.
REST = "More"


def with_contents(pages: list[Page]) -> dict[str, str]:
    """Adds tables of contents to the pages. Returns the text of each page, by the page's target.

    The home page gets the site's table of contents. Each other page gets a table of the pages below it.
    """
    contents = _sections(pages)
    listed = [page.source for of in contents.values() for page in of]
    parents = {page.source: _parent(page.source, listed) for page in pages if page.source not in (*listed, HOME)}
    contents[REST] = [page for page in pages if page.source in parents and parents[page.source] is None]
    texts = {}
    for page in pages:
        children = [child for child in pages if parents.get(child.source) == page.source]
        tables = contents if page.source == HOME else {"": _in_order_of_links(page, children)}
        texts[page.target] = _inserted(page, "".join(_table(page, caption, of) for caption, of in tables.items()))
    return texts


def _sections(pages: list[Page]) -> dict[str, list[Page]]:
    """Returns the pages of each section of the index. A link to the course adds the course and all its chapters."""
    sources = {page.target: page.source for page in pages}
    index = next(page for page in pages if page.source == INDEX)
    sections = [heading for heading in headings(index.text) if heading.level > 1]
    ends = [*(heading.start for heading in sections[1:]), len(index.text)]
    contents = {}
    for heading, end in zip(sections, ends, strict=True):
        linked = [sources.get(target) for target in _links(index, index.text[heading.start : end])]
        contents[heading.text] = [page for source in linked for page in pages if page.source == source]
    return contents


def _links(page: Page, text: str) -> list[str]:
    """Returns the targets of the links in `text`, which is a part of the page."""
    folder = posixpath.dirname(page.target)
    return [posixpath.normpath(posixpath.join(folder, link)) for link in re.findall(r"\]\(([^)#]+)", text)]


def _parent(source: str, listed: list[str]) -> str | None:
    """Returns the nearest README above `source` that is in `listed`, or None if there is none."""
    folder = posixpath.dirname(source)
    while folder:
        if (readme := f"{folder}/README.md") in listed and readme != source:
            return readme
        folder = posixpath.dirname(folder)
    return None


def _in_order_of_links(page: Page, children: list[Page]) -> list[Page]:
    links = _links(page, page.text)
    return sorted(children, key=lambda child: links.index(child.target) if child.target in links else len(links))


def _table(page: Page, caption: str, children: list[Page]) -> str:
    """Returns a table of contents that only the sidebar shows, or "" if there are no `children`."""
    if not children:
        return ""
    options = f":caption: {caption}\n:hidden:\n" if caption else ":hidden:\n"
    names = [f"/{child.name}" for child in children if child != page]
    return "\n".join(["```{toctree}", options, *names, "```\n\n"])


def _inserted(page: Page, tables: str) -> str:
    """Returns the page's text with `tables` before the first section, so that they do not belong to a section."""
    start = next((heading.start for heading in headings(page.text) if heading.level > 1), len(page.text))
    return f"{page.text[:start]}\n{tables}{page.text[start:]}" if tables else page.text
