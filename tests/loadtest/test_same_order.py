"""Histories with the same order of releases, and with opposite orders."""

from pathlib import Path

from click.testing import CliRunner

from loadtest import same_order
from loadtest.record.comparison import Comparison, Environment, Run
from loadtest.record.shapes import Latencies, Load, Measurement

LOAD = Load(rate=500, duration_s=2, timeout_s=30)
LATENCIES = Latencies(fastest=1, mean=1, p50=1, p90=1, p99=1, slowest=1)


def _history(folder: Path, commit: str = "1234567", **rates: list[float]) -> Path:
    runs = [
        Run(
            kind="published",
            repeat=repeat,
            measurement=Measurement(
                name=name,
                load=LOAD,
                body_bytes=1,
                requests=1,
                accepted=1,
                statuses={},
                errors=[],
                rps=rate,
                latencies=LATENCIES,
                distribution=[],
                audit=None,
            ),
        )
        for name, values in rates.items()
        for repeat, rate in enumerate(values)
    ]
    where = Environment(commit=commit, started="2026-01-01T00:00:00+00:00", machine={}, tools={})
    folder.mkdir()
    history = Comparison(title="", command="", environment=where, repeats=2, runs=runs)
    (folder / "history.json").write_text(history.model_dump_json())
    return folder


def _compare(one: Path, other: Path) -> tuple[int, str]:
    result = CliRunner().invoke(same_order.main, [str(one), str(other)])
    return result.exit_code, result.output


def test_order_counts_where_intervals_are_apart(tmp_path: Path) -> None:
    """v02 before v03 in both; v03 and v04 overlap, so that their order does not count."""
    one = _history(tmp_path / "1", v02=[40, 42], v03=[50, 60], v04=[55, 65])
    other = _history(tmp_path / "2", v02=[41, 43], v03=[55, 62], v04=[52, 61])
    code, output = _compare(one, other)
    assert code == 0
    assert "published: 2 pairs in order in both, 0 of them opposite" in output


def test_an_opposite_order_is_reported(tmp_path: Path) -> None:
    """Exit code 1, and the pair of releases."""
    one, other = _history(tmp_path / "1", v02=[40], v03=[50]), _history(tmp_path / "2", v02=[60], v03=[50])
    code, output = _compare(one, other)
    assert code == 1
    assert "published: v02 and v03" in output


def test_two_commits_are_not_compared(tmp_path: Path) -> None:
    """They may differ without contradiction."""
    code, output = _compare(_history(tmp_path / "1", v02=[1]), _history(tmp_path / "2", "7654321", v02=[1]))
    assert code == 1
    assert "of two commits" in output
