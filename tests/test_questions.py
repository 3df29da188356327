"""docs/questions: each page has its parts, is in the index, and its command shows what the page says."""

import json
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
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_its_parts(name: str) -> None:
    """A page has a title, all parts in order, at most 500 words of its own, one command, and a diff of a few lines."""
    text = page(name)
    assert re.match(r"# \S", text)
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
    """Returns the anchors that GitHub makes from headings, and those that the document or the page writes itself."""
    text = document.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    made = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return made | set(re.findall(r'<(?:a|section) id="([^"]+)"', text))


def test_the_index_has_every_page() -> None:
    """The index links to each page, and each measured question has a page."""
    linked = set(re.findall(r"\]\((\w+)\.md\)", page("README")))
    assert linked == set(PAGES)
    assert set(QUESTIONS) <= set(PAGES)


def pages_by_command() -> dict[str, list[str]]:
    """Returns the names of the pages that have the same command. `test_a_page_has_its_parts` finds a page without."""
    found: dict[str, list[str]] = {}
    for name in PAGES:
        for command in re.findall(r"^```sh\n(.*)\n```$", page(name), re.MULTILINE)[:1]:
            found.setdefault(command, []).append(name)
    return found


PYTEST = re.compile(r"\.venv/bin/python -m pytest -q (\S+) -k (\w+)")
OURS, OTHERS = (
    [names for command, names in pages_by_command().items() if bool(PYTEST.fullmatch(command)) is ours]
    for ours in (True, False)
)


@pytest.mark.parametrize("name", [name for names in OURS for name in names])
def test_a_command_of_pytest_selects_tests(name: str) -> None:
    """The file has tests with the word that the page's command selects. This run has these tests already."""
    [(file, word)] = PYTEST.findall(page(name))
    assert re.search(rf"^(async )?def test_\w*{word}", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "names",
    [
        pytest.param(names, marks=() if set(names) & set(QUICK) else pytest.mark.slow, id="-".join(names))
        for names in OTHERS
    ],
)
def test_see_it(terminal: Terminal, names: list[str]) -> None:
    """The command works in a copy of the tree, and prints what each page with this command shows.

    A question also writes its runs and its pictures into a folder of trial runs.
    """
    running, showing = CodeBlockParser("sh", terminal.run), CodeBlockParser("text", terminal.compare)
    for name in names:
        blocks: list[Parser] = [running, showing] if name == names[0] else [showing]
        for example in Sybil(parsers=blocks).parse(FOLDER / f"{name}.md").examples():
            example.evaluate()
    for name in set(names) & set(QUESTIONS):
        [file] = (terminal.folder / "loadtest" / "results").glob("*-quick/questions.json")
        [answer] = json.loads(file.read_text(encoding="utf-8"))["answers"]
        assert (answer["name"], answer["runs"] != []) == (name, True)
        assert {run["case"] for run in answer["runs"]} <= set(QUESTIONS[name].chosen(quick=True))
        pictures = {f"question-{name}-{kind}.svg" for kind in ("dark", "light")}
        assert {picture.name for picture in file.parent.glob("*.svg")} == pictures
