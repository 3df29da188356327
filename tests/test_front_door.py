"""README is short, docs/README.md lists every page, and the links of these pages lead somewhere."""

import re

import pytest

from tests.test_documents import ROOT
from tests.test_questions import anchors

WORDS = 800
DOCS = ROOT / "docs"
ELSEWHERE = {
    "app/billing/README.md",
    "app/worker/README.md",
    "deploy/CAPACITY.md",
    "deploy/k8s/README.md",
    "docs/questions/README.md",
    "loadtest/README.md",
    "packaging/asgi-doctor/README.md",
}
PAGES = sorted(
    {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", *ELSEWHERE}
    | {f"docs/{file.name}" for file in DOCS.glob("*.md")}
)
ON_GITHUB = "../../issues"


def links(name: str) -> list[str]:
    """Returns the targets of the links to files, without those in the code of a diff or a listing."""
    text = re.sub(r"^```.*?^```$", "", (ROOT / name).read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return [target for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text) if target != ON_GITHUB]


def test_the_readme_is_short() -> None:
    """The README has at most 800 words, its generated part included."""
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= WORDS


def test_the_index_has_every_page() -> None:
    """The index links to the pages in docs, and to those beside the code."""
    linked = {(DOCS / target).resolve() for target in links("docs/README.md")}
    pages = {DOCS / file.name for file in DOCS.glob("*.md")} - {DOCS / "README.md"}
    assert (pages | {ROOT / name for name in ELSEWHERE}) - linked == set()


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name: str) -> None:
    """Links to files of the repository and to headings have targets."""
    for target in links(name):
        file, _, heading = target.partition("#")
        found = ((ROOT / name).parent / file).resolve() if file else ROOT / name
        assert found.exists(), target
        if heading and found.suffix == ".md":
            assert heading in anchors(found), target
