"""The site's table of contents."""

import posixpath
import re

from docs_site.markdown import headings
from docs_site.pages import CHANGELOG, Page

HOME = "README.md"
# Sources of pages by caption. The changelog stands for the pages of the course. A page that is not listed is a child of
# the next README above it that is listed, or else stands under REST.
NAVIGATION = {
    "Use it": ["docs/README.md", "docs/local.md", "docs/contract.md"],
    "The course": [CHANGELOG],
    "Why is it slow?": ["docs/questions/README.md", "docs/doctor.md", "packaging/asgi-doctor/README.md"],
    "Operate it": [
        "docs/settings.md",
        "docs/operating.md",
        "docs/aws.md",
        "deploy/k8s/README.md",
        "deploy/CAPACITY.md",
    ],
    "How the billing works": ["app/worker/README.md", "app/billing/README.md", "docs/simulation.md"],
    "Measure it": ["loadtest/README.md", "loadtest/RESULTS.md", "docs/lab.md"],
    "Work on it": ["docs/development.md", "tests/doctor/corpus/README.md"],
}
REST = "More"


def with_contents(pages: list[Page]) -> dict[str, str]:
    """Returns the text of each page by target: the home page with the site's contents, others with their children."""
    existing = {page.source for page in pages}
    listed = [source for sources in NAVIGATION.values() for source in sources if source in existing]
    parents = {page.source: _parent(page.source, listed) for page in pages if page.source not in (*listed, HOME)}
    contents = {
        caption: [page for source in sources for page in pages if page.source == source]
        for caption, sources in NAVIGATION.items()
    }
    contents[REST] = [page for page in pages if page.source in parents and parents[page.source] is None]
    texts = {}
    for page in pages:
        children = [child for child in pages if parents.get(child.source) == page.source]
        tables = contents if page.source == HOME else {"": _in_order_of_links(page, children)}
        texts[page.target] = _inserted(page, "".join(_table(page, caption, of) for caption, of in tables.items()))
    return texts


def _parent(source: str, listed: list[str]) -> str | None:
    """Returns the next listed README above `source`, if there is one."""
    folder = posixpath.dirname(source)
    while folder:
        if (readme := f"{folder}/README.md") in listed and readme != source:
            return readme
        folder = posixpath.dirname(folder)
    return None


def _in_order_of_links(page: Page, children: list[Page]) -> list[Page]:
    links = re.findall(r"\]\(([^)#]+)", page.text)
    folder = posixpath.dirname(page.target)

    def place(child: Page) -> int:
        link = posixpath.relpath(child.target, folder)
        return links.index(link) if link in links else len(links)

    return sorted(children, key=place)


def _table(page: Page, caption: str, children: list[Page]) -> str:
    """A hidden table of contents: only the sidebar shows it."""
    if not children:
        return ""
    options = f":caption: {caption}\n:hidden:\n" if caption else ":hidden:\n"
    names = [f"/{child.name}" for child in children if child != page]
    return "\n".join(["```{toctree}", options, *names, "```\n\n"])


def _inserted(page: Page, tables: str) -> str:
    """Puts the tables before the page's first section, where they belong to the whole page."""
    start = next((heading.start for heading in headings(page.text) if heading.level > 1), len(page.text))
    return f"{page.text[:start]}\n{tables}{page.text[start:]}" if tables else page.text
