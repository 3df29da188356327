"""Builds the site: writes its sources into one folder, and lets Sphinx make the pages in another folder."""

import io
import shutil
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.console import nocolor

from docs_site.course import read_course
from docs_site.links import Links
from docs_site.markdown import without_comments
from docs_site.navigation import with_contents
from docs_site.pages import CHANGELOG, read_pages

STATIC = Path(__file__).with_name("static")
CONFIGURATION: dict[str, Any] = {
    "extensions": ["myst_parser"],
    "html_theme": "furo",
    "html_static_path": [str(STATIC)],
    "html_css_files": ["site.css"],
    "html_copy_source": False,
    "html_show_copyright": False,
    "html_show_sphinx": False,
    "html_use_index": False,
    "pygments_style": "friendly",
    "highlight_language": "none",
    # MyST gives each heading, down to level 6, the same anchor as GitHub, and checks the links to these anchors.
    "myst_heading_anchors": 6,
    # GitHub does not have these kinds of syntax, and shows them as plain text.
    "myst_disable_syntax": ["myst_block_break", "myst_line_comment", "myst_role", "myst_target"],
}


class SiteError(Exception):
    """Links are broken, or Sphinx has warned. `str()` has a line for each broken link or warning."""


def build(root: Path, folder: Path, repository: str | None) -> Path:
    """Builds the site into `folder`, and returns the folder of its pages.

    `repository`: the URL of the repository, for links to source files. If it is None, these links become plain paths.
    Raises SiteError if a link is broken, or if Sphinx warns.
    """
    shutil.rmtree(folder, ignore_errors=True)
    sources, pages = folder / "source", folder / "html"
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    files = _write_sources(root, sources, repository)
    nocolor()
    warnings = io.StringIO()
    title = f"{project['name']} {project['version']}"
    settings = CONFIGURATION | {"project": project["name"], "html_title": title}
    sphinx = Sphinx(sources, None, pages, folder / "doctrees", "html", settings, status=None, warning=warnings)
    sphinx.build()
    if lines := dict.fromkeys(warnings.getvalue().splitlines()):  # Sphinx repeats some warnings for each page
        raise SiteError("\n".join(lines).replace(f"{sources}/", ""))
    for name in files:
        (pages / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, pages / name)
    return pages


def _write_sources(root: Path, folder: Path, repository: str | None) -> set[str]:
    """Writes the pages' Markdown. Returns the other files that the pages need. Raises SiteError if a link is broken."""
    course = read_course((root / CHANGELOG).read_text(encoding="utf-8"))
    pages = read_pages(root)
    links = Links(root, {page.source: page.target for page in pages}, course.anchors, repository)
    rewritten = [replace(page, text=without_comments(links.rewritten(page))) for page in (*pages, *course.pages)]
    if links.broken:
        raise SiteError("\n".join(links.broken))
    for target, text in with_contents(rewritten).items():
        (folder / target).parent.mkdir(parents=True, exist_ok=True)
        (folder / target).write_text(text, encoding="utf-8")
    return links.files
