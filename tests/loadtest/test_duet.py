"""Two subjects are measured at the same time."""

from pathlib import Path

import pytest

from loadtest import duet, interleaved
from loadtest.calibrated import dilated
from loadtest.fire.conditions import lateness_ms
from loadtest.fire.vegeta import Hit
from loadtest.interleaved import closed_loop
from loadtest.record.comparison import Comparison
from loadtest.record.shapes import Load
from loadtest.report import ratios
from loadtest.stage.peers import floor


@pytest.mark.slow
def test_a_duet(tools: None, tmp_path: Path) -> None:
    """Both subjects are attacked in every round, and the file has all results under the same kind."""
    file = tmp_path / "bench.json"
    where = interleaved.environment()
    load = closed_loop(4, 0.5)
    pairs = duet.pairs(floor(), [])
    comparison = duet.run("bench: a test", pairs=pairs, load=load, repeats=2, file=file, where=where)
    again = f"{floor().name} {duet.AGAIN}"
    assert [(run.kind, run.repeat, run.measurement.name) for run in comparison.runs] == [
        (again, repeat, name) for repeat in range(2) for name in (again, floor().name)
    ]
    assert all(run.measurement.accepted > 0 for run in comparison.runs)
    assert len(Comparison.model_validate_json(file.read_text(encoding="utf-8")).runs) == len(comparison.runs)
    assert "can be told here" in ratios.bench(comparison)


@pytest.mark.parametrize("factor", [0.5, 1.0, 1.7])
def test_dilated_time(factor: float) -> None:
    """The factor changes the duration, and the load has as many webhooks as published."""
    load = dilated(factor)
    assert load.rate * load.duration_s == pytest.approx(2500, rel=0.01)
    assert (load.duration_s, load.timeout_s) == (5 * factor, 30 * factor)


def test_lateness() -> None:
    """The lateness is the 99th percentile of how late requests of an open loop left. A closed loop has none."""
    load = Load(rate=100, duration_s=2, timeout_s=30)
    in_time = [Hit(number / 100, 0.1, 200, "", None) for number in range(200)]
    late = [hit._replace(at=hit.at + 0.5) if hit.at >= 1 else hit for hit in in_time]
    assert lateness_ms(load, in_time) == pytest.approx(0, abs=1e-6)
    assert lateness_ms(load, late) == pytest.approx(500)
    assert lateness_ms(closed_loop(4, 1), late) is None
