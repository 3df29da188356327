"""The scheduler's statistics of a thread, or of the whole process if the kernel has none for threads."""

import sys
import threading
import time
from pathlib import Path

import pytest

from asgi_doctor import scheduling
from asgi_doctor.scheduling import SchedStat, ThreadTimes


@pytest.mark.skipif(sys.platform != "linux", reason="schedstat is Linux's")
def test_a_thread_computes() -> None:
    """The CPU time of the thread is counted; the CPU time of other threads is not."""
    times = ThreadTimes(threading.get_native_id())
    before = times.read()
    while time.thread_time() < 0.05:
        pass
    other = threading.Thread(target=lambda: sum(range(3_000_000)))
    other.start()
    other.join()
    spent = times.read()
    times.close()
    assert spent.cpu - before.cpu > 0
    assert spent.cpu == pytest.approx(time.thread_time(), abs=0.03)
    assert spent.run_queue >= before.run_queue


@pytest.mark.skipif(sys.platform != "linux", reason="schedstat is Linux's")
def test_an_ended_thread() -> None:
    """`runnable` raises ProcessLookupError for an ended thread, whose files the kernel has removed."""
    go_on = threading.Event()
    thread = threading.Thread(target=go_on.wait)
    thread.start()
    assert thread.native_id is not None
    times = ThreadTimes(thread.native_id)
    go_on.set()
    thread.join()
    while Path(f"/proc/self/task/{thread.native_id}").exists():
        pass  # the kernel removes the thread a little later
    with pytest.raises(ProcessLookupError):
        times.runnable()
    times.close()


@pytest.mark.skipif(sys.platform != "linux", reason="schedstat is Linux's")
def test_a_read_keeps_the_interpreter_lock() -> None:
    """If a read released the lock, a thread that computes would take it, and each read would wait for 5 ms."""
    turns, ended = 0, False

    def take_the_lock() -> None:
        nonlocal turns
        while not ended:
            turns += 1
            time.sleep(0)

    times, other = ThreadTimes(threading.get_native_id()), threading.Thread(target=take_the_lock)
    interval = sys.getswitchinterval()
    other.start()
    sys.setswitchinterval(60)  # seconds after which this thread would lose the lock without releasing it
    try:
        before = turns
        for _ in range(1000):
            times.read()
        assert turns == before
    finally:
        sys.setswitchinterval(interval)
        ended = True
        other.join()
        times.close()


@pytest.mark.parametrize(
    ("stat", "waiting"), [("nr_periods 9\nnr_throttled 5\nthrottled_usec 1500000\n", 1.5), ("", 0)]
)
def test_without_schedstat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stat: str, waiting: float) -> None:
    """Without schedstat, the run-queue time is the throttled time of the whole cgroup, or 0 if it is not counted."""
    file = tmp_path / "cpu.stat"
    file.write_text(stat, encoding="utf-8")
    monkeypatch.setattr(scheduling, "cpu_stat", lambda: file)
    times = ThreadTimes(native_id=0)
    assert times.read() == SchedStat(0, waiting, 0)
    times.close()
