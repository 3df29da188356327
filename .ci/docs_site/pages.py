"""The pages of the site: each Markdown file except the changelog, which becomes several pages (course.py)."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
CHANGELOG = "CHANGELOG.md"


@dataclass(frozen=True)
class Page:
    """A page. `source`: its path in the repository. `target`: its path in the site's sources."""

    source: str
    target: str
    text: str

    @property
    def name(self) -> str:
        """Returns the page's name in a table of contents."""
        return self.target.removesuffix(".md")


def target_of(source: str) -> str:
    """Returns the path of a Markdown file in the site's sources. A README becomes the index of its folder."""
    path = Path(source)
    return path.with_name("index.md").as_posix() if path.name == "README.md" else source


def read_pages(root: Path) -> list[Page]:
    """Returns a page for each Markdown file except the changelog. Leaves out the files that git ignores."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "*.md"]
    names = subprocess.run(listed, cwd=root, capture_output=True, encoding="utf-8", check=True).stdout.split("\0")
    found = sorted({name for name in names if name and (root / name).is_file()} - {CHANGELOG})
    return [Page(name, target_of(name), (root / name).read_text(encoding="utf-8")) for name in found]
