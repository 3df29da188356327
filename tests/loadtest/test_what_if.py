"""Runs with other parameters than those of documents: the folder of their results, and their figures."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import click
import pytest
from click.testing import CliRunner

from lab.cli.measure import measure
from loadtest import bench, calibrated, interleaved, outage, outcome, overload
from loadtest.fire.vegeta import Hit
from loadtest.record import folders, index
from loadtest.record.comparison import Comparison, Environment, Run
from loadtest.record.shapes import Latencies, Load, Measurement
from loadtest.report import documents
from loadtest.report import overload_report as overload_table
from loadtest.stage.checkout import Checkout
from loadtest.stage.subject import AttackSubject

WHERE = Environment(commit="abcdef0", started="2026-11-27T12:00:00+00:00", machine={}, tools={})


class _Stop(Exception):
    """Ends a command before it measures anything."""


def _run(command: click.Command, *arguments: str) -> None:
    result = CliRunner().invoke(command, arguments)
    assert isinstance(result.exception, _Stop), result.output


@pytest.mark.parametrize(
    ("arguments", "folder"),
    [
        (("--factor", "1.06", "--overhead", "0.6"), "2026-11-27-abcdef0-quick"),
        (("--overhead", "0"), "2026-11-27-abcdef0-quick"),
        (("--repeats", "4"), "2026-11-27-abcdef0-quick"),
        ((), "2026-11-27-abcdef0"),
    ],
)
def test_a_given_parameter_is_no_calibration(
    arguments: tuple[str, ...], folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run with a given parameter is a trial, because documents and the lab would use the parameter as measured."""
    files: list[Path] = []

    def run(title: str, cases: Any, repeats: int, file: Path, *rest: Any, **more: Any) -> None:
        files.append(file)
        raise _Stop

    monkeypatch.setattr(interleaved, "environment", lambda: WHERE)
    monkeypatch.setattr(interleaved, "run", run)
    _run(calibrated.main, *arguments)
    assert [file.parent.name for file in files] == [folder]


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        (bench.main, ("--against", "HEAD", "--seconds", "1")),
        (measure, ("--only", "tips", "--repeats", "2")),
        (measure, ("--only", "workers", "--scale", "0.001")),
        (outage.main, ("--rate", "100")),
        (outage.main, ("--seconds", "5")),
        (overload.main, ("--seconds", "5")),
    ],
)
def test_less_than_the_defaults_is_a_trial_run(
    command: click.Command, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A smaller run is a trial, because documents would otherwise publish it as the newest result."""
    written: list[bool] = []

    def comparison(where: Environment, quick: bool = False) -> None:
        written.append(quick)
        raise _Stop

    monkeypatch.setattr(folders, "comparison", comparison)
    monkeypatch.setattr(bench, "checkout", lambda commit: nullcontext(Checkout(commit, Path(), Path())))
    monkeypatch.setattr(outage, "outage", lambda *arguments: MagicMock(conditions=None))
    _run(command, *arguments)
    assert written == [True]


class _Overload(overload.Overload):
    """Measures nothing. Returns the figures of a service that answers 100 webhooks a second, 10 s after they arrive."""

    def __init__(self) -> None:
        self.rows: list[list[str]] = []

    def attack(self, kind: str, what: AttackSubject, budget: str, load: Load, latency_s: float = 0) -> Measurement:
        accepted = round((100 if load.users else 50) * load.duration_s)
        times = Latencies(fastest=1, mean=1, p50=1, p90=1, p99=1, slowest=1)
        measured = Measurement(
            name=what.name,
            load=load,
            body_bytes=1,
            requests=accepted,
            accepted=accepted,
            statuses={"200": accepted},
            errors=[],
            rps=accepted / (load.duration_s + (0 if load.users else 10)),
            latencies=times,
            distribution=[],
            audit=None,
        )
        self.rows.append(overload_table.row(kind, measured, [Hit(0, 1, 200, "", None)]))
        return measured


def test_the_share_of_the_capacity_is_that_of_the_rates_beside_it() -> None:
    """The share uses 200s per second of sending. vegeta's throughput is lower: it includes the time after sending."""
    done = _Overload()
    overload.overloaded(done, 20)
    assert [row[1] for row in done.rows] == ["100/s", *["50/s (50 % of the capacity)"] * 2]


def test_doubts_of_the_fit_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """All figures depend on f and on the overhead, so doubts about the attacks that measure them are recorded, too."""
    complete = documents.newest("calibrated")[0]
    finished: list[Comparison] = []

    def run(title: str, cases: list[interleaved.Case], *rest: Any, **more: Any) -> Comparison:
        kinds = sorted({case.kind for case in cases})
        rps = 10 if kinds[0].startswith("speed") else 1000  # so that a request has some overhead
        measured = complete.runs[0].measurement.model_copy(update={"rps": rps})
        return complete.model_copy(update={"runs": [Run(kind=kind, repeat=0, measurement=measured) for kind in kinds]})

    monkeypatch.setattr(interleaved, "environment", lambda: WHERE)
    monkeypatch.setattr(interleaved, "run", run)
    monkeypatch.setattr(folders, "comparison", lambda *rest: tmp_path)
    monkeypatch.setattr(outcome, "finish", lambda comparison, *rest: finished.append(comparison))
    assert CliRunner().invoke(calibrated.main).exit_code == 0
    kinds = ["calibrated", "sustained", "speed", "nothing", "speed-with-overhead"]
    assert [run.kind for run in finished[0].runs] == kinds
    written = Comparison.model_validate_json((tmp_path / "calibrated.json").read_text(encoding="utf-8"))
    assert [run.kind for run in written.runs] == kinds


@pytest.mark.parametrize("end", folders.UNPUBLISHED)
def test_what_documents_leave_out(end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a complete run on a known commit is published."""
    monkeypatch.setattr(folders, "RESULTS", tmp_path)
    for day, name in (("26", "2026-11-26-abcdef0"), ("27", f"2026-11-27-abcdef0{end}")):
        (tmp_path / name).mkdir()
        where = WHERE.model_copy(update={"started": f"2026-11-{day}T12:00:00+00:00"})
        result = {"command": "bench", "environment": where.model_dump()}
        (tmp_path / name / "bench.json").write_text(json.dumps(result), encoding="utf-8")
    assert index.scan().parts["bench"].folder == "2026-11-26-abcdef0"
