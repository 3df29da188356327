"""Documents mark figures with doubts, and show `–` for figures that were not measured."""

from collections.abc import Callable
from pathlib import Path

import pytest

from loadtest.record.comparison import Comparison
from loadtest.record.shapes import Measurement
from loadtest.report import captions, documents, overview, ratios, tables

RELEASE = "v07_sync_handler"


def certain(kind: str) -> Comparison:
    """Returns a copy of the newest complete run, without its doubts."""
    comparison = documents.newest(kind)[0].model_copy(deep=True)
    for run in comparison.runs:
        if run.measurement.conditions is not None:
            run.measurement.conditions.doubts.clear()
    return comparison


def changed(kind: str, change: Callable[[Measurement], object]) -> Comparison:
    """Returns a copy of the newest complete run. `change` is applied to each measurement of RELEASE."""
    comparison = certain(kind)
    for run in comparison.runs:
        if run.measurement.name == RELEASE:
            change(run.measurement)
    return comparison


def doubt(measured: Measurement) -> None:
    assert measured.conditions is not None
    measured.conditions.doubts.append("other processes used 1.0 of 2 cores")


def lose(measured: Measurement) -> None:
    assert measured.audit is not None
    measured.audit.lost.append("ev_lost")


def forget(measured: Measurement) -> None:
    assert measured.used is not None
    measured.used.peak_mib = measured.used.cpu_ms_per_accepted = None


@pytest.mark.parametrize("kind", ["history", "bench"])
def test_the_overview_marks_a_release(kind: str) -> None:
    """A doubtful attack in either run marks this release, and no other release."""
    runs = {name: certain(name) for name in ("history", "bench")} | {kind: changed(kind, doubt)}
    marked = [line for line in overview.overview(runs["history"], runs["bench"]).splitlines() if "DOUBTFUL" in line]
    assert [line.partition(" (")[0] for line in marked] == [f"| {RELEASE}"]


def test_captions_count_the_doubts() -> None:
    """The caption counts doubtful repeats, because README's picture and figures have no column for doubts."""
    bench = changed("bench", doubt)
    doubtful = sum(run.measurement.name == RELEASE for run in bench.runs)
    assert f"(DOUBTFUL: {doubtful} of {len(bench.runs)})" in captions.conditions(bench)
    assert "DOUBTFUL" not in captions.conditions(certain("bench"))


@pytest.mark.parametrize("table", [ratios.bench, ratios.against])
def test_a_doubtful_reference_marks_its_duet(table: Callable[[Comparison], str]) -> None:
    """A doubt about the reference marks the row, because the row's ratio depends on the reference."""
    bench = certain("bench").model_copy(update={"against": "another"})
    reference = next(run.measurement for run in bench.runs if run.kind == RELEASE != run.measurement.name)
    doubt(reference)
    marked = [line for line in table(bench).splitlines() if "DOUBTFUL" in line]
    assert len(marked) == 1
    assert f"(DOUBTFUL: 1 of {sum(run.kind == RELEASE for run in bench.runs)})" in marked[0]


def test_a_failed_audit_is_marked() -> None:
    """A failed audit is marked in tables, because a run with a failed audit is written and may be the newest."""
    marked = [line for line in tables.published(changed("history", lose)).splitlines() if "AUDIT FAILED" in line]
    assert [line.partition(" (")[0] for line in marked] == [f"| {RELEASE}"]


def test_the_doubts_of_a_worker_are_shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The doubts of a worker's measurement are the caption's last sentence."""
    worker = documents.newest_worker().model_copy(update={"doubts": ["the processor was slow"]})
    monkeypatch.setattr(documents, "newest_worker", lambda: worker)
    assert documents.worker().endswith(" DOUBTFUL: the processor was slow.")


def test_what_was_not_measured_is_a_dash() -> None:
    """Memory is `–` before Linux 5.19, which reports no peak. CPU for each webhook is `–` without any 200."""
    history = changed("history", forget)
    bench = documents.newest("bench")[0]
    made = [tables.published(history), overview.overview(history, bench)]
    assert "nan" not in "".join(made)
    rows = [line for table in made for line in table.splitlines() if line.startswith(f"| {RELEASE}")]
    assert [row.count("| – ") for row in rows] == [2, 1]  # CPU and memory; the overview has the CPU of `bench`


def test_a_single_attack_has_no_interval() -> None:
    """The sustained attack has no interval, because it is made only once."""
    table = tables.calibrated(documents.newest("calibrated")[0])
    [sustained] = [line for line in table.splitlines() if "sustained" in line]
    name, *figures = sustained.removeprefix("|").split("|")
    assert "once" in name
    assert not any("(" in figure for figure in figures)


def test_a_caption_has_openssl_if_the_result_has_it() -> None:
    """A caption names OpenSSL only if the result does. Results before commit 555ed653 do not."""
    where = documents.newest("bench")[0].environment
    machine = {name: value for name, value in where.machine.items() if name != "openssl"}
    assert "OpenSSL" not in captions.where(where.model_copy(update={"machine": machine}))
    newer = where.model_copy(update={"machine": machine | {"openssl": "3.0.19"}})
    assert captions.where(newer).endswith(", OpenSSL 3.0.19")
