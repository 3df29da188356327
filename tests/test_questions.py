"""docs/questions: each page has its parts, is in the index, and its command shows what the page says."""

import re
from pathlib import Path

import pytest
from sybil import Sybil
from sybil.parsers.markdown import CodeBlockParser
from sybil.typing import Parser

from lab.measurement.questions import QUESTIONS
from tests.test_documents import ROOT, Terminal, terminal

__all__ = ["terminal"]

FOLDER = ROOT / "docs" / "questions"
PAGES = sorted(file.stem for file in FOLDER.glob("*.md") if file.stem != "README")
QUICK = ("ca_bundle",)  # in `make test`; CI follows all
PARTS = ["Symptom", "Why", "See it", "Cure", "What it costs", "The number", "Links"]
WORDS, LINES = 500, 15


def page(name: str) -> str:
    return (FOLDER / f"{name}.md").read_text()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_its_parts(name: str) -> None:
    """A page has all parts in order, at most 500 words of its own, one command, and a diff of at most fifteen lines."""
    text = page(name)
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == PARTS
    written = re.sub(r"<!-- \[\[\[cog.*?end\]\]\] -->", "", text, flags=re.DOTALL)
    assert len(written.split()) <= WORDS
    assert len(re.findall(r"^```sh\n(.*)\n```$", text, re.MULTILINE)) == 1
    [diff] = re.findall(r"^```diff\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(diff.splitlines()) <= LINES
    assert re.search(r"^\+", diff, re.MULTILINE)


@pytest.mark.parametrize("name", [*PAGES, "README"])
def test_links_lead_somewhere(name: str) -> None:
    """Links to files of the repository and to headings of other documents have targets."""
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", page(name)):
        file, _, heading = target.partition("#")
        text = (FOLDER / file).resolve()
        assert text.exists(), target
        if heading and text.is_file():
            assert heading in anchors(text), target


def anchors(document: Path) -> set[str]:
    """Returns the anchors that GitHub makes from headings, and those that the document writes itself."""
    text = document.read_text()
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    made = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return made | set(re.findall(r'<a id="([^"]+)"', text))


def test_the_index_has_every_page() -> None:
    """The index links to each page, and each measured question has a page."""
    linked = set(re.findall(r"\]\((\w+)\.md\)", page("README")))
    assert linked == set(PAGES)
    assert set(QUESTIONS) <= set(PAGES)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in PAGES]
)
def test_see_it(terminal: Terminal, name: str) -> None:
    """The page's command works in a copy of the tree, and prints what the page shows."""
    blocks: list[Parser] = [CodeBlockParser("sh", terminal.run), CodeBlockParser("text", terminal.compare)]
    for example in Sybil(parsers=blocks).parse(FOLDER / f"{name}.md").examples():
        example.evaluate()
