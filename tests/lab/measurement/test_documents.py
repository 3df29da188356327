"""docs/lab.md's parts, the pictures and the page."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from playwright.sync_api import Browser

from lab.measurement.record import LabResults
from lab.report import __main__ as command
from lab.report import charts as lab_charts
from lab.report import documents as lab_documents
from lab.report import page as lab_page
from lab.report import pictures as lab_pictures
from lab.report import published as lab_published
from lab.report import tables as lab_tables
from loadtest.report import theme
from loadtest.report.documents import NotMeasured
from tests.harness.browser import PATIENCE_MS
from tests.lab.measurement.conftest import row, study


@pytest.fixture
def results(lab: LabResults, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two complete runs, of which the newer one has study 2 alone, and a trial run."""
    monkeypatch.setattr(lab_documents, "RESULTS", tmp_path)
    older, newer = lab, LabResults(studies=[study("outbound", {"sync, new client": [99.0]})])
    later = newer.studies[0].environment.model_copy(update={"started": "2026-11-23T12:00:00+00:00"})
    newer = LabResults(studies=[newer.studies[0].model_copy(update={"environment": later})])
    for name, measured in {"2026-11-22-a": older, "2026-11-23-b": newer, "2026-11-24-c-quick": older}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "lab.json").write_text(measured.model_dump_json(), encoding="utf-8")
    return tmp_path


def test_the_newest_of_each_study(results: Path) -> None:
    """The newest complete run of each study counts. Trial runs do not count."""
    assert lab_documents.newest("three_tasks")[1].name == "2026-11-22-a"
    assert lab_documents.newest("outbound")[1].name == "2026-11-23-b"
    with pytest.raises(NotMeasured, match="python -m lab measure --only orders"):
        lab_documents.study("orders")


def test_a_part_of_the_document(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The part of a study has the picture, the comparisons, the verdict with its reasons, and the source."""
    monkeypatch.setitem(lab_published.REASONS, "three_tasks", {"gather": "because it was measured"})
    text = lab_documents.study("three_tasks")
    assert "lab-three_tasks-dark.svg" in text
    assert "| gather ÷ in turn | 3.02 | 2.97 (2.94–3.00) | reproduced |" in text
    assert "Verdict: **reproduced** (of 5 comparisons" in text
    assert "- gather ÷ in turn: because it was measured" in text
    assert "Measured by `python -m lab measure` on commit `0123456`, 2026-11-22, on 2 cores (a CPU)" in text
    assert "| async_concurrent | 490 (480–500) | 1.02 ms |" in lab_documents.rows("three_tasks")


@pytest.mark.slow
def test_stale_pictures(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Missing and altered files of each study's newest run fail `make check`, until they are written again."""
    monkeypatch.setattr(command, "ROOT", results)
    missing = lab_documents.stale()
    assert {folder.name for _, folder in missing} == {"2026-11-22-a", "2026-11-23-b"}
    for measured, folder in missing:
        lab_pictures.redraw(measured, folder)
    drawn = results / "2026-11-22-a" / "lab-three_tasks-light.svg"
    drawn.write_text(drawn.read_text(encoding="utf-8").replace("gather", "another"), encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        command.main(check=True)
    assert ended.value.code == "stale: 2026-11-22-a/lab-three_tasks-light.svg; run `make docs`"


def test_the_pictures_are_pictures(lab: LabResults, tmp_path: Path) -> None:
    """Each study has a picture for each theme, a well-formed SVG with paths."""
    lab_pictures.write(lab, tmp_path)
    for name in ("three_tasks", "outbound"):
        for kind in theme.THEMES:
            root = ET.fromstring((tmp_path / f"lab-{name}-{kind}.svg").read_text(encoding="utf-8"))  # noqa: S314  # ours
            assert len(list(root.iter("{http://www.w3.org/2000/svg}path"))) > 2


def test_a_full_machine_is_not_a_doubt() -> None:
    """A column of its own says that the machine was full. Answers other than 200 are counted."""
    busy = [row("a", 0, 10, statuses={"200": 30, "0": 3, "503": 4}, lab_cores=1.5)]
    table = lab_tables.rows(study("three_tasks", {}).model_copy(update={"rows": busy}))
    assert table.splitlines()[-1].endswith("| none: 3, 503: 4 | 41 | 1.50 | 2.0 of 2: machine full |")
    assert "DOUBTFUL" not in table
    assert "full" not in lab_tables.rows(study("three_tasks", {"a": [10.0]}))


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(375, "dark"), (1200, "light")])
def test_every_chart_is_drawn(browser: Browser, lab: LabResults, tmp_path: Path, width: int, scheme: str) -> None:
    """The page causes no console message and no network request. Each chart has marks, and fits the screen."""
    lab_page.write(lab, tmp_path)
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]  # typed by name
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: complaints.append(request.url) if request.url.startswith("http") else None)
    page.goto((tmp_path / "lab.html").as_uri())
    page.wait_for_selector("body[data-drawn]")
    assert complaints == []
    drawn = page.locator(".chart").all()
    assert len(drawn) == 2 * len(lab.studies)
    assert all(chart.locator("svg .mark-symbol path").count() > 1 for chart in drawn)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


def test_a_comparison_that_is_not_measured_yet() -> None:
    """A comparison without measurements has a row without a verdict, and no mark in the picture."""
    measured = study("tips", {"h11": [10.0], "nothing beside h11": [10.0]})
    assert "`--no-access-log` (CPU a request) | > 1 | not measured yet | – |" in lab_tables.comparisons(measured)
    assert "access-log" not in str(lab_charts.ratios(measured))
