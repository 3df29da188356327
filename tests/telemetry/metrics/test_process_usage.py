"""The usage of this process, compared with psutil."""

import gc
from pathlib import Path
from typing import Any

import psutil
import pytest

from app.telemetry.metrics import process_usage
from app.telemetry.metrics.instruments import Instrument
from app.telemetry.metrics.process_metrics import GarbageMetrics


def points(instruments: list[Instrument]) -> dict[str, dict[Any, Any]]:
    return {instrument.description.name: dict(instrument.points()) for instrument in instruments}


def test_this_process() -> None:
    """CPU, memory and open files are as psutil reports them."""
    before = psutil.Process().cpu_times()
    found = points(process_usage.process_instruments())
    after = psutil.Process().cpu_times()
    assert before.user - 0.02 <= found["process.cpu.time"]["user",] <= after.user + 0.02
    assert before.system - 0.02 <= found["process.cpu.time"]["system",] <= after.system + 0.02
    assert found["process.memory.usage"][()] == pytest.approx(psutil.Process().memory_info().rss, rel=0.2)
    assert found["process.unix.file_descriptor.count"][()] == psutil.Process().num_fds() - 1  # its own


def test_throttling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One file gives three counters, which are absent when it is gone."""
    file = tmp_path / "cpu.stat"
    file.write_text("nr_periods 40\nnr_throttled 10\nthrottled_usec 1500000\n", encoding="utf-8")
    monkeypatch.setattr(process_usage, "cpu_stat", lambda: file)
    instruments = process_usage.process_instruments()
    found = points(instruments)
    names = ("container.cpu.periods", "container.cpu.throttled_periods", "container.cpu.throttled_time")
    assert [found[name] for name in names] == [{(): 40}, {(): 10}, {(): 1.5}]
    file.unlink()
    assert [points(instruments)[name] for name in names] == [{}, {}, {}]


def test_what_the_kernel_does_not_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without /proc and cgroups, only the CPU time is present."""
    monkeypatch.setattr(process_usage, "_PROC", tmp_path)
    monkeypatch.setattr(process_usage, "cpu_stat", lambda: None)
    found = points(process_usage.process_instruments())
    assert {name for name, values in found.items() if values} == {"process.cpu.time"}


def test_pauses_of_the_garbage_collector() -> None:
    """Pauses are counted by generation, from start to stop."""
    metrics = GarbageMetrics()
    callbacks = len(gc.callbacks)
    metrics.start()
    gc.collect()
    metrics.stop()
    gc.collect()
    full = points(metrics.instruments)["cpython.gc.pause"][2,]
    assert sum(full.counts) == 1
    assert full.total > 0
    assert len(gc.callbacks) == callbacks
