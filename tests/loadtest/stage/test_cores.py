"""Two processes exchange two cores again and again."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from loadtest.stage import cores

SECONDS = 20


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="Linux only")
@pytest.mark.skipif(os.cpu_count() == 1, reason="one core")
def test_they_change_cores() -> None:
    """Each process runs on both cores in turn, with all its threads. A process that has ended causes no error."""
    code = "import threading, sys; threading.Thread(target=sys.stdin.read).start(); print(flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", code]
    both = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)]
    gone = subprocess.Popen([sys.executable, "-c", ""])
    for process in both:
        assert process.stdout is not None
        process.stdout.readline()  # its threads are running
    gone.wait()
    ended = threading.Event()
    pids = [process.pid for process in both]
    swapping = threading.Thread(target=cores.swap, args=([*pids, gone.pid], (0, 1), ended))
    swapping.start()
    seen: dict[int, set[frozenset[int]]] = {pid: set() for pid in pids}
    until = time.monotonic() + SECONDS
    while time.monotonic() < until and not all(alone >= {frozenset({0}), frozenset({1})} for alone in seen.values()):
        for pid in pids:
            threads = [int(thread.name) for thread in Path(f"/proc/{pid}/task").iterdir()]
            seen[pid] |= {frozenset(os.sched_getaffinity(thread)) for thread in threads}
    ended.set()
    swapping.join()
    for process in both:
        process.communicate()
    assert all(alone >= {frozenset({0}), frozenset({1})} for alone in seen.values())
