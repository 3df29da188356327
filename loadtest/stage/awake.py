"""Keeps the cores of a virtual machine from sleeping while something is measured.

A virtual core is a thread of its host. When the core falls asleep, the host stops the thread. When the core wakes up,
the host often starts the thread on a physical core that also runs a busy thread, perhaps the thread of this machine's
other virtual core. Until the host moves the thread, the same work takes up to 1.7 times the CPU time. Under a load
test, cores fall asleep hundreds of times a second. So this module requests from Linux that cores wake up within 0 µs.
An idle core then waits in a loop, so the host does not stop its thread.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_CPU_INFO = Path("/proc/cpuinfo")
# This file takes the time in µs within which cores must wake up. Linux applies the written time while the file is open:
# https://docs.kernel.org/power/pm_qos_interface.html
_LATENCY = Path("/dev/cpu_dma_latency")


@contextmanager
def awake() -> Iterator[None]:
    """Keeps the cores awake inside the context. Does nothing unless root runs it on a virtual machine with Linux."""
    virtual = _CPU_INFO.exists() and " hypervisor " in _CPU_INFO.read_text(encoding="utf-8")
    if not (virtual and os.access(_LATENCY, os.W_OK)):
        yield
        return
    with _LATENCY.open("wb", buffering=0) as latency:
        latency.write((0).to_bytes(4))
        yield
