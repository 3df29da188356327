"""The report's page in a browser, and its pictures."""

from pathlib import Path
from xml.etree import ElementTree as ET

import altair as alt
import pytest
import vl_convert
from playwright.sync_api import Browser, Page

from app.settings import Release
from loadtest import interleaved, outcome
from loadtest.interleaved import Case
from loadtest.record import folders
from loadtest.record.comparison import Comparison
from loadtest.record.shapes import Load
from loadtest.report import figures, over_time, page, pictures, request_charts, tables, theme
from loadtest.report.request_charts import Deadline
from loadtest.stage import subject
from tests.harness.browser import PATIENCE_MS

pytestmark = pytest.mark.slow  # the measurement
PHONE, DESK = {"width": 375, "height": 800}, {"width": 1200, "height": 900}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Comparison, Path]:
    """Measures a history of three releases, v01 among them, for half a second each. The figures do not matter."""
    out = tmp_path_factory.mktemp("history")
    load = Load(rate=50, duration_s=0.5, timeout_s=30)
    users = interleaved.closed_loop(2, 0.5)
    subjects = [subject.release(release) for release in (Release.V07_SYNC_HANDLER, Release.V09_GROUP_COMMIT)]
    inline = subject.release(Release.V01_INLINE)
    cases = [Case("published", inline, "none", Load(rate=4, duration_s=0.5, timeout_s=30))]
    cases += [Case("published", what, "none", load) for what in subjects]
    cases += [Case("saturated", what, "none", users) for what in subjects]
    cases += [Case("sustained", subjects[1], "none", load, once=True)]
    comparison = interleaved.run("history: a test", cases, 2, out / "history.json", interleaved.environment())
    # An error as a slow release has it; none occurs here.
    comparison.runs[0].measurement.errors.append(f'Post "http://127.0.0.1:1/{"x" * 500}": no answer {"y" * 500}')
    hits = over_time.hits(comparison, out)
    page.write(comparison, hits, out)
    over_time.write(over_time.history(hits), out, "over-time")
    pictures.write(comparison, out)
    return comparison, out


def _open(browser: Browser, made: Path, size: dict[str, int], scheme: str) -> tuple[Page, list[str]]:
    context = browser.new_context(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]  # both are typed by name
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: complaints.append(request.url) if request.url.startswith("http") else None)
    page.goto(made.joinpath("report.html").as_uri())
    page.wait_for_selector("body[data-drawn]")
    return page, complaints


@pytest.mark.parametrize(("size", "scheme"), [(PHONE, "dark"), (DESK, "light")], ids=["phone", "desk"])
def test_every_chart_is_drawn(
    browser: Browser, made: tuple[Comparison, Path], size: dict[str, int], scheme: str
) -> None:
    """The page causes no console message and no network request. Each chart has marks, and fits the screen."""
    page, complaints = _open(browser, made[1], size, scheme)
    assert complaints == []
    drawn = page.locator(".chart").all()
    assert len(drawn) == len(figures.METRICS) + 6
    for chart in drawn:
        if chart.get_attribute("id") == "over_time":
            assert chart.locator("canvas").count() == 1
        else:
            assert chart.locator("svg .mark-group path, svg .mark-rect path, svg .mark-symbol path").count() > 1
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    assert page.locator("li code").all_text_contents() == [f"no answer {'y' * 500}"]
    page.context.close()


def test_the_colours_follow_the_system(browser: Browser, made: tuple[Comparison, Path]) -> None:
    """Switching to dark redraws the charts in light colours."""
    page, complaints = _open(browser, made[1], DESK, "light")
    label = page.locator("#published_rps text").first
    before = label.get_attribute("fill")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"document.querySelector('#published_rps text')?.getAttribute('fill') !== '{before}'")
    assert complaints == []
    page.context.close()


def test_a_release_can_be_chosen(browser: Browser, made: tuple[Comparison, Path]) -> None:
    """The chart of latency over time then shows the other release."""
    page, complaints = _open(browser, made[1], DESK, "light")
    picture = "document.querySelector('#over_time canvas').toDataURL()"
    before = page.evaluate(picture)
    page.locator("#over_time select").select_option("v09_group_commit")
    page.wait_for_function(f"before => {picture} !== before", arg=before)
    assert complaints == []
    page.context.close()


def test_the_pictures_are_pictures(made: tuple[Comparison, Path]) -> None:
    """Each theme has its own pictures, which are well-formed SVGs with paths."""
    for name in ("throughput", "cpu", "latencies"):
        for kind in theme.THEMES:
            root = ET.fromstring((made[1] / f"{name}-{kind}.svg").read_text(encoding="utf-8"))  # noqa: S314  # made a moment ago, by us
            assert root.tag.endswith("svg")
            assert len(list(root.iter("{http://www.w3.org/2000/svg}path"))) > 2


def test_every_webhook_is_in_the_picture(made: tuple[Comparison, Path]) -> None:
    """Each release has a panel with all webhooks of one repeat. The pictures are PNGs."""
    hits = over_time.hits(*made)
    runs = {name: made[0].of("published", name) for name in made[0].names("published")}
    sent = {name: figures.middle(of_release).requests for name, of_release in runs.items()}
    assert {name: len(of_release) for name, of_release in hits.items()} == sent
    for kind in theme.THEMES:
        assert (made[1] / f"over-time-{kind}.png").read_bytes().startswith(b"\x89PNG")


def test_probes_and_a_deadline_are_drawn(made: tuple[Comparison, Path]) -> None:
    """Probes and a deadline are drawn beside the webhooks. The legend lacks answers that did not occur."""
    raw = folders.raw(made[1] / "history.json", "published", "v09_group_commit", 0)
    requests = over_time.requests(raw)
    accepted = made[0].of("published", "v09_group_commit")[0].accepted
    assert sum(answer == "200" for _, _, answer in requests) == accepted > 0
    assert any(answer == request_charts.PROBED for _, _, answer in requests)
    assert not any(answer == request_charts.PROBE_FAILED for _, _, answer in requests)
    spec = request_charts.side_by_side({"one": requests}, alt.Title("a test"), Deadline(20, "too late"))
    drawn = vl_convert.vegalite_to_svg(spec)
    assert "too late" in drawn
    assert "503" not in drawn
    failed = [(1.0, 0.0, request_charts.PROBE_FAILED)]
    spec = request_charts.side_by_side({"one": requests + failed}, alt.Title("a test"))
    assert (vl_convert.vegalite_to_svg(spec).count("#cc79a7"), drawn.count("#cc79a7")) == (1, 0)


def test_the_audits_held(made: tuple[Comparison, Path]) -> None:
    """All runs were audited, and no audit failed."""
    assert outcome.failed_audits(made[0]) == []
    assert all(run.measurement.audit is not None for run in made[0].runs)
    assert [len(made[0].of(kind, "v09_group_commit")) for kind in ("published", "saturated", "sustained")] == [2, 2, 1]


def test_doubts_are_shown(made: tuple[Comparison, Path]) -> None:
    """A table marks the release with a doubtful repeat, and no other; the reasons are listed."""
    comparison = made[0].model_copy(deep=True)
    for run in comparison.runs:
        assert run.measurement.conditions is not None
        run.measurement.conditions.doubts = []
    assert "DOUBTFUL" not in tables.history(comparison)
    assert outcome.doubts(comparison) == []
    doubtful = comparison.of("published", Release.V07_SYNC_HANDLER)[1]
    assert doubtful.conditions is not None
    doubtful.conditions.doubts = ["other processes used 1.0 of 2 cores"]
    marked = [line for line in tables.history(comparison).splitlines() if "DOUBTFUL" in line]
    assert [line.split(" | ")[0] for line in marked] == ["| v07_sync_handler (DOUBTFUL: 1 of 2)"]
    assert outcome.doubts(comparison) == [
        "DOUBTFUL: v07_sync_handler, published, repeat 2: other processes used 1.0 of 2 cores"
    ]
