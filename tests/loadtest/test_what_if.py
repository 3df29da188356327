"""Runs with other parameters than a document's: where they are written, and what they compare."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import click
import pytest
from click.testing import CliRunner

from app.settings import NEWEST, Release
from lab.cli.measure import measure
from loadtest import bench, calibrated, calls, duet, interleaved, outage, outcome, overload, shares
from loadtest.fire.conditions import Observer
from loadtest.fire.vegeta import Hit
from loadtest.record import folders
from loadtest.record.comparison import Comparison, Environment, Run
from loadtest.record.shapes import Latencies, Load, Measurement
from loadtest.record.shares import Shares
from loadtest.report import documents
from loadtest.report import overload as overload_table
from loadtest.report import shares as shares_table
from loadtest.stage.checkout import Checkout
from loadtest.stage.subject import AttackSubject
from local.machine import Busy

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
    """The documents and `python -m lab --only do_nothing` would take its factor and overhead for measured ones."""
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
        (calls.main, ("--repeats", "1")),
        (calls.main, ("--seconds", "1")),
        (measure, ("--only", "tips", "--repeats", "2")),
        (measure, ("--only", "workers", "--scale", "0.001")),
        (outage.main, ("--rate", "100")),
        (outage.main, ("--seconds", "5")),
        (overload.main, ("--seconds", "5")),
        (shares.main, ("--seconds", "5")),
    ],
)
def test_less_than_the_defaults_is_a_trial_run(
    command: click.Command, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Documents would publish it as the newest result."""
    written: list[bool] = []

    def comparison(where: Environment, quick: bool = False) -> None:
        written.append(quick)
        raise _Stop

    monkeypatch.setattr(folders, "comparison", comparison)
    monkeypatch.setattr(bench, "checkout", lambda commit: nullcontext(Checkout(commit, Path(), Path())))
    for module, name in ((outage, "outage"), (shares, "of")):
        monkeypatch.setattr(module, name, lambda *arguments: MagicMock(conditions=None))
    monkeypatch.setattr(shares_table, "table", lambda done: "")
    _run(command, *arguments)
    assert written == [True]


@pytest.mark.parametrize(("contained", "doubted"), [(False, True), (True, False)])
def test_a_service_in_a_container(contained: bool, doubted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The service is one of the other processes, so what they use is not counted."""
    observer = Observer()
    monkeypatch.setattr(observer, "_machine", MagicMock(busy=Busy(1.0, 0.0, 1.0)))
    monkeypatch.setattr(observer, "_queue", MagicMock(cores=0.0, ping_ms=None, doubts=list))
    found = observer.conditions(Load(rate=0, duration_s=1, timeout_s=1, users=1), [], contained=contained)
    assert (found.foreign_cores is not None, bool(found.doubts)) == (doubted, doubted)


@pytest.mark.parametrize(
    ("release", "named"),
    [(NEWEST, "2026-11-27-abcdef0"), (Release.V09_GROUP_COMMIT, "2026-11-27-abcdef0-quick")],
)
def test_the_shares_of_an_older_release(release: Release, named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """RESULTS.md has those of the newest release."""
    files: list[Path] = []
    done = Shares(
        environment=WHERE, command="", release=release, cpu_ms=1, per_second=1, samples=1, stages={"parse": 1}
    )
    monkeypatch.setattr(shares, "of", lambda release, seconds: done)
    monkeypatch.setattr(folders, "write", lambda file, result: files.append(file))
    assert CliRunner().invoke(shares.main, ["--release", release.value]).exit_code == 0
    assert [file.parent.name for file in files] == [named]


def test_the_command_names_the_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line would not repeat the run without the variables."""
    monkeypatch.setattr("sys.argv", ["loadtest", "bench"])
    monkeypatch.setenv("APP_SQS_MAX_CONNECTIONS", "200")
    monkeypatch.setenv("APP_SQS_QUEUE_URL", "https://sqs")
    assert interleaved.called() == "APP_SQS_MAX_CONNECTIONS=200 python -m loadtest bench"


def test_the_default_number_of_calls_is_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    """A number in the environment does not change it."""
    compared: list[tuple[AttackSubject, AttackSubject]] = []

    def run(title: str, *, pairs: list[tuple[AttackSubject, AttackSubject]], **more: Any) -> None:
        compared.extend(pairs)
        raise _Stop

    monkeypatch.setattr(interleaved, "environment", lambda: WHERE)
    monkeypatch.setattr(duet, "run", run)
    monkeypatch.setenv("APP_SQS_BATCHES", "7")
    _run(calls.main)
    assert {subject.name.split()[0] for pair in compared for subject in pair} == {"1", "2", "4", "8", "16"}
    for subject in (subject for pair in compared for subject in pair):
        assert subject.flags["APP_SQS_BATCHES"] == subject.name.split()[0]


class _Overload(overload.Overload):
    """Measures nothing: as many 200s as a service that can answer 100 a second, and answers that come 10 s late."""

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
    """vegeta's throughput is lower, because it also counts the seconds after the last webhook."""
    done = _Overload()
    overload.overloaded(done, 20)
    assert [row[1] for row in done.rows] == ["100/s", *["50/s (50 % of the capacity)"] * 2]


def test_doubts_of_the_fit_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """All figures depend on f and on the overhead, so what disturbed their attacks is recorded with the others."""
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
    for name in ("2026-11-26-abcdef0", f"2026-11-27-abcdef0{end}"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bench.json").touch()
    monkeypatch.setattr(documents, "RESULTS", tmp_path)
    assert [file.parent.name for file in documents._whole("bench")] == ["2026-11-26-abcdef0"]
