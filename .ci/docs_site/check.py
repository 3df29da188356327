"""Finds broken internal links of the built site, and files that a page loads from another host."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


@dataclass
class Checked:
    pages: int = 0
    links: int = 0  # number of internal links
    broken: list[str] = field(default_factory=list)


class _Addresses(HTMLParser):
    """Collects a page's anchors, its links, and the files that a browser loads for the page."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.anchors = {""}
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif tag == "link" and "href" in values:
            self.loaded.append(values["href"])
        elif "src" in values:
            self.loaded.append(values["src"])


def check(folder: Path) -> Checked:
    """Checks the links of the pages that Sphinx wrote, but not the links in reports of measurements."""
    checked = Checked()
    own = [page for page in sorted(folder.rglob("*.html")) if "results" not in page.relative_to(folder).parts]
    read = {page: _Addresses(page) for page in own}
    for page, addresses in read.items():
        checked.pages += 1
        checked.broken += [
            f"{page.relative_to(folder)}: loads {address}" for address in addresses.loaded if _elsewhere(address)
        ]
        for address in (*addresses.links, *addresses.loaded):
            if not _elsewhere(address) and not address.startswith(("data:", "mailto:")):
                checked.links += 1
                if problem := _problem(page, address, read):
                    checked.broken.append(f"{page.relative_to(folder)}: {address}: {problem}")
    for style in sorted(folder.rglob("*.css")):
        found = re.findall(r"url\(['\"]?(\w+://[^)]+)|@import", style.read_text(encoding="utf-8"))
        checked.broken += [f"{style.relative_to(folder)}: loads {address}" for address in found]
    return checked


def _elsewhere(address: str) -> bool:
    parts = urlsplit(address)
    return bool(parts.netloc) or parts.scheme in ("http", "https")


def _problem(page: Path, address: str, read: dict[Path, _Addresses]) -> str | None:
    """Returns what is wrong with an internal address, or None if nothing is wrong."""
    parts = urlsplit(address)
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not target.is_file():
        return "no such file"
    if target in read and unquote(parts.fragment) not in read[target].anchors:
        return "no such anchor"
    return None
