"""Rewrites a page's links and pictures so that they work on the site instead of in the repository."""

import html
import posixpath
import re
from collections.abc import Mapping
from pathlib import Path

import imagesize

from docs_site.markdown import in_prose
from docs_site.pages import CHANGELOG, Page

# Inline code is matched first, because a bracket in code does not begin a link.
LINK = re.compile(r"(?P<code>`[^`]+`)|(?P<image>!?)\[(?P<text>(?:[^][]|\[[^]]*\])*)\]\((?P<target>[^)\s]+)\)")
_STILL = r'<source media="\(prefers-reduced-motion: reduce\)'
PICTURE = re.compile(
    rf'<picture>(?:{_STILL} and [^>]*srcset="(?P<still_dark>\S+)">{_STILL}" srcset="(?P<still_light>\S+)">)?'
    r'<source [^>]*srcset="(?P<dark>\S+)"><img alt="(?P<alt>[^"]*)" src="(?P<light>\S+)"></picture>'
)
SHOWN = (".html", ".png", ".svg", ".webp")  # files that a browser shows; any other file is a source file


class Links:
    """Rewrites the links of pages. Collects in `files` the other files that the site needs, such as pictures.

    `broken` has a line for each link to a missing file, or to a missing anchor of the changelog. MyST checks the links
    to anchors of all other pages.

    `pages`: each page's path on the site, by the page's path in the repository. `anchors`: the address on the site for
    each anchor of the changelog. `repository`: the URL of the repository, or None. If it is None, a link to a source
    file becomes the file's path.
    """

    def __init__(
        self, root: Path, pages: Mapping[str, str], anchors: Mapping[str, str], repository: str | None
    ) -> None:
        self.files: set[str] = set()
        self.broken: list[str] = []
        self._root, self._pages, self._anchors, self._repository = root, pages, anchors, repository

    def rewritten(self, page: Page) -> str:
        """Returns the page's text with links and pictures for the site."""

        def change(prose: str) -> str:
            prose = PICTURE.sub(lambda found: self._pair(page, found), prose)
            return LINK.sub(lambda found: found[0] if found["code"] else self._link(page, found), prose)

        return in_prose(page.text, change)

    def _link(self, page: Page, found: re.Match[str]) -> str:
        text, target = found["text"], found["target"]
        if re.match(r"[a-z]+:", target):
            return found[0]
        path, _, anchor = target.partition("#")
        source = posixpath.normpath(posixpath.join(posixpath.dirname(page.source), path)) if path else page.source
        if found["image"]:
            return self._image(page, source, html.escape(text, quote=True))
        if source == CHANGELOG or source in self._pages:
            return f"[{text}]({self._page(page, source, anchor)})"
        if source.startswith(".."):  # leads to a page of the project on GitHub, such as ../../issues
            return f"[{text}]({self._repository}/{posixpath.basename(source)})" if self._repository else text
        if source.endswith(SHOWN):
            return f'<a href="{self._file(page, source)}">{text}</a>'
        return self._source(page, text, source)

    def _page(self, page: Page, source: str, anchor: str) -> str:
        if source != CHANGELOG:
            return _relative(page, self._pages[source] + (f"#{anchor}" if anchor else ""))
        if anchor not in self._anchors:
            self.broken.append(f"{page.source}: {CHANGELOG} has no heading or anchor {anchor!r}")
        return _relative(page, self._anchors.get(anchor, self._anchors[""]))

    def _source(self, page: Page, text: str, source: str) -> str:
        if not (self._root / source).exists():
            self.broken.append(f"{page.source}: there is no {source}")
        if self._repository is not None:
            return f"[{text}]({self._repository}/blob/HEAD/{source})"
        return f"`{source}`" if source.endswith(text.strip("`")) else f"{text} (`{source}`)"

    def _pair(self, page: Page, found: re.Match[str]) -> str:
        """Returns HTML with both variants of a picture, light and dark. The site's theme shows one of them."""
        return "".join(
            self._image(page, self._path(page, found[scheme]), found["alt"], scheme, found[f"still_{scheme}"])
            for scheme in ("light", "dark")
        )

    @staticmethod
    def _path(page: Page, target: str) -> str:
        return posixpath.normpath(posixpath.join(posixpath.dirname(page.source), target))

    def _image(self, page: Page, source: str, alt: str, scheme: str | None = None, still: str | None = None) -> str:
        """Returns HTML of a picture that links to the picture's file. Sets the size, so that the page does not jump.

        `still`: the file for readers who prefer no motion, or None.
        """
        address = self._file(page, source)
        width, height = imagesize.get(self._root / source) if source in self.files else (0, 0)
        size = f' width="{width:.0f}" height="{height:.0f}"' if width > 0 else ""
        shown = f'<img loading="lazy"{size} alt="{alt}" src="{address}">'
        if still is not None:
            other = self._file(page, self._path(page, still))
            shown = f'<picture><source media="(prefers-reduced-motion: reduce)" srcset="{other}">{shown}</picture>'
        attributes = f' class="only-{scheme}"' if scheme else ""
        return f'<a href="{address}"{attributes}>{shown}</a>'

    def _file(self, page: Page, source: str) -> str:
        if (self._root / source).is_file():
            self.files.add(source)
        else:
            self.broken.append(f"{page.source}: there is no {source}")
        return _relative(page, source)


def _relative(page: Page, target: str) -> str:
    path, hash_, anchor = target.partition("#")
    return posixpath.relpath(path, posixpath.dirname(page.target) or ".") + hash_ + anchor
