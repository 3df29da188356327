"""docs/lab.md's parts, the pictures and the page."""

import re
from pathlib import Path

import pytest

from lab.measurement.case_record import LabResults
from lab.measurement.expected_answers import Answer
from lab.measurement.questions import QUESTIONS
from lab.measurement.studies import STUDIES
from lab.report import lab_charts, lab_documents, lab_tables
from lab.report import published as lab_published
from loadtest.record import folders, index
from loadtest.report.documents import NotMeasured
from tests.lab.measurement.conftest import WHERE, row, study


@pytest.fixture
def results(lab: LabResults, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two complete runs, of which the newer one has study 2 alone, and a trial run."""
    monkeypatch.setattr(folders, "RESULTS", tmp_path)
    older, newer = lab, LabResults(studies=[study("outbound", {"sync, new client": [99.0]})])
    later = newer.studies[0].environment.model_copy(update={"started": "2026-11-23T12:00:00+00:00"})
    newer = LabResults(studies=[newer.studies[0].model_copy(update={"environment": later})])
    for name, measured in {"2026-11-22-a": older, "2026-11-23-b": newer, "2026-11-24-c-quick": older}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "lab.json").write_text(measured.model_dump_json(), encoding="utf-8")
    index.write(index.scan())
    return tmp_path


def test_the_newest_of_each_study(results: Path) -> None:
    """The newest complete run of each study counts. Trial runs do not count."""
    assert lab_documents.newest("three_tasks")[1].name == "2026-11-22-a"
    assert lab_documents.newest("outbound")[1].name == "2026-11-23-b"
    with pytest.raises(NotMeasured, match="python -m loadtest publish --only orders"):
        lab_documents.study("orders")


def test_a_part_of_the_document(results: Path) -> None:
    """The part of a study has the picture, the main comparisons, and what differs from the published study."""
    text = lab_documents.study("three_tasks")
    assert "lab-three_tasks-dark.svg" in text
    assert "| gather ÷ in turn | 3.02 | 2.97 (2.94–3.00) | reproduced |" in text
    assert "tasks that need each other" not in text
    assert "Here: 2 workers, 500 users" in text


def test_the_reasons_of_verdicts(lab: LabResults, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reason stands once, with all of its comparisons."""
    because = {"gather": "because it was measured", "await": "because it was measured"}
    monkeypatch.setitem(lab_published.REASONS, "three_tasks", because)
    of = "awaiting three tasks in turn ÷ blocking a thread for them; gather ÷ in turn"
    assert lab_tables.reasons(lab.studies[0]) == f"- {of}: because it was measured"


def test_the_page_has_every_case() -> None:
    """The index of the newest page leads to a part for each study and question, with its picture."""
    page = (lab_documents.newest("tips")[1] / "lab.html").read_text(encoding="utf-8")
    index, *parts = re.split(r'<section id="(\w+)">', page)
    assert parts[::2] == [*STUDIES, *QUESTIONS] == re.findall(r'href="#(\w+)"', index)
    assert all("<img" in part for part in parts[1::2])


def test_the_document_has_the_main_comparisons_alone() -> None:
    """Each study has one to five main comparisons."""
    for of in lab_published.PUBLISHED.values():
        assert 1 <= sum(comparison.main for comparison in of.comparisons) <= 5


def test_where_it_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence has the commit and the machine of most studies and questions, and names the others."""
    whole = LabResults(studies=[study(name, {}) for name in STUDIES])
    monkeypatch.setattr(lab_documents, "newest", lambda name: (whole.study(name), Path()))
    other = WHERE.model_copy(update={"commit": "7654321"})

    def newest_answer(name: str) -> tuple[Answer, Path]:
        where = other if name == "memory" else WHERE
        return Answer(name=name, command="", environment=where, repeats=3, runs=[]), Path()

    monkeypatch.setattr(lab_documents, "newest_answer", newest_answer)
    text = lab_documents.measured()
    assert "NAME` on `0123456`, 2026-11-22, 2 cores (a CPU), Python 3.11.7; 3 repeats" in text
    assert "memory on `7654321`" in text


def test_a_full_machine_is_not_a_doubt() -> None:
    """A column of its own says that the machine was full. Answers other than 200 are counted."""
    busy = [row("a", 0, 10, statuses={"200": 30, "0": 3, "503": 4}, lab_cores=1.5)]
    table = lab_tables.rows(study("three_tasks", {}).model_copy(update={"rows": busy}))
    assert table.splitlines()[-1].endswith("| none: 3, 503: 4 | 41 | 1.50 | 2.0 of 2: machine full |")
    assert "DOUBTFUL" not in table
    assert "full" not in lab_tables.rows(study("three_tasks", {"a": [10.0]}))


def test_a_comparison_that_is_not_measured_yet() -> None:
    """A comparison without measurements has a row without a verdict, and no mark in the picture."""
    measured = study("tips", {"h11": [10.0], "nothing beside h11": [10.0]})
    assert "`--no-access-log` (CPU a request) | > 1 | not measured yet | – |" in lab_tables.comparisons(measured)
    assert "access-log" not in str(lab_charts.ratios(measured))
