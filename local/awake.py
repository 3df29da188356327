"""Keeps the cores of a virtual machine from sleeping while something is measured.

A virtual core is a thread of its host. A core that wakes up often begins on the second hardware thread of a core that
is busy, perhaps with this machine's other virtual core. Until the host moves it, the same work takes up to 1.7 times
the CPU time. Under a load test, cores sleep and wake up hundreds of times a second. A core that never sleeps is hardly
ever moved. So one process for each core uses the time that is left, with Linux's policy for work that never delays
other work: https://man7.org/linux/man-pages/man7/sched.7.html
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

_CPU_INFO = Path("/proc/cpuinfo")
# The limit of CPU of a container's control group, version 2 and version 1, and its value without a limit.
_LIMITS = {Path("/sys/fs/cgroup/cpu.max"): "max", Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"): "-1"}
# The process also ends if its parent is killed.
_SPIN = """
import os, sys
core, parent = map(int, sys.argv[1:])
os.sched_setaffinity(0, {core})
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
while os.getppid() == parent:
    for _ in range(1_000_000):
        pass
"""


@contextmanager
def awake() -> Iterator[None]:
    """Keeps the cores awake inside the context, on a virtual machine that runs Linux and shows whole cores.

    On any other machine, the context does nothing. If two cores are hardware threads of one core, and the machine
    shows it, a busy core would slow the other one down. In a container with a limit of CPU, the processes would use up
    what the limit allows.
    """
    command = [sys.executable, "-I", "-S", "-c", _SPIN]
    # In a session of their own, the processes do not get Ctrl-C.
    processes = [subprocess.Popen([*command, str(core), str(os.getpid())], start_new_session=True) for core in _cores()]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _cores() -> set[int]:
    virtual = _CPU_INFO.exists() and " hypervisor " in _CPU_INFO.read_text()
    whole = psutil.cpu_count(logical=False) == psutil.cpu_count()
    limited = any(file.exists() and file.read_text().split()[0] != unlimited for file, unlimited in _LIMITS.items())
    return os.sched_getaffinity(0) if virtual and whole and not limited else set()
