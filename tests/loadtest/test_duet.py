"""Two subjects are measured at the same time."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from loadtest import duet, interleaved
from loadtest.calibrated import dilated
from loadtest.fire.conditions import lateness_ms
from loadtest.fire.vegeta import Hit
from loadtest.interleaved import closed_loop
from loadtest.record.comparison import Comparison
from loadtest.record.shapes import Load, Measurement
from loadtest.report import captions, documents, ratios
from loadtest.stage.peers import floor
from loadtest.stage.subject import AttackSubject


@pytest.mark.slow
def test_a_duet(tools: None, tmp_path: Path) -> None:
    """Both subjects are attacked in every round, and all results in the file have the same kind."""
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
    assert "beside itself differs" in ratios.bench(comparison)


def test_a_subject_with_a_narrow_interval_is_not_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A subject whose CPU is always the same has the fewest repeats. A subject whose CPU varies has all repeats."""
    cpu = {"even": [1.0] * 8, "uneven": [1.0, 2.0] * 4, "reference": [1.0] * 16}
    whole = documents.newest("bench")[0].runs[0].measurement

    def attack(pair: list[AttackSubject]) -> list[Measurement]:
        assert whole.used is not None
        used = [whole.used.model_copy(update={"cpu_ms_per_accepted": cpu[who.name].pop()}) for who in pair]
        return [whole.model_copy(update={"name": who.name, "used": one}) for who, one in zip(pair, used, strict=True)]

    monkeypatch.setattr(duet, "together", lambda attack_of, pair, raw: attack(pair))
    even, uneven, reference = (replace(floor(), name=name) for name in cpu)
    runs = duet.duets(
        "a test",
        pairs=[(even, reference), (uneven, reference)],
        repeats=8,
        file=tmp_path / "bench.json",
        attack=lambda who, raw, begin: whole,
        enough=ratios.narrow,
    )
    assert Counter(run.kind for run in runs) == {"even": 2 * ratios.FEWEST, "uneven": 2 * 8}
    comparison = documents.newest("bench")[0].model_copy(update={"runs": runs})
    assert captions.repeats(comparison).startswith("5 to 8 interleaved repeats")


@pytest.mark.parametrize("factor", [0.5, 1.0, 1.7])
def test_dilated_time(factor: float) -> None:
    """The factor changes the duration, but the number of webhooks is the published one."""
    load = dilated(factor)
    assert load.rate * load.duration_s == pytest.approx(2500, rel=0.01)
    assert (load.duration_s, load.timeout_s) == (5 * factor, 30 * factor)


def test_lateness() -> None:
    """The lateness is the 99th percentile of how late an open loop sends its requests. A closed loop has none."""
    load = Load(rate=100, duration_s=2, timeout_s=30)
    in_time = [Hit(number / 100, 0.1, 200, "", None) for number in range(200)]
    late = [hit._replace(at=hit.at + 0.5) if hit.at >= 1 else hit for hit in in_time]
    assert lateness_ms(load, in_time) == pytest.approx(0, abs=1e-6)
    assert lateness_ms(load, late) == pytest.approx(500)
    assert lateness_ms(closed_loop(4, 1), late) is None
