"""What the scheduler counts of a thread, or of the process where it does not."""

import sys
import threading
import time
from pathlib import Path

import pytest

from asgi_doctor import scheduling
from asgi_doctor.scheduling import Spent, ThreadTimes


@pytest.mark.skipif(sys.platform != "linux", reason="schedstat is Linux's")
def test_a_thread_computes() -> None:
    """Its CPU is counted, and that of other threads is not."""
    times = ThreadTimes(threading.get_native_id())
    before = times.read()
    while time.thread_time() < 0.05:
        pass
    other = threading.Thread(target=lambda: sum(range(3_000_000)))
    other.start()
    other.join()
    spent = times.read()
    times.close()
    assert spent.computing - before.computing > 0
    assert spent.computing == pytest.approx(time.thread_time(), abs=0.03)
    assert spent.waiting >= before.waiting


@pytest.mark.parametrize(
    ("stat", "waiting"), [("nr_periods 9\nnr_throttled 5\nthrottled_usec 1500000\n", 1.5), ("", 0)]
)
def test_without_schedstat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stat: str, waiting: float) -> None:
    """The throttling of the whole process, if that is known."""
    file = tmp_path / "cpu.stat"
    file.write_text(stat)
    monkeypatch.setattr(scheduling, "cpu_stat", lambda: file)
    times = ThreadTimes(native_id=0)
    assert times.read() == Spent(0, waiting)
    times.close()
