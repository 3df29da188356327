"""Measures CPU time, memory, open files and CPU throttling of this process, if the kernel provides the values."""

import resource
from functools import partial
from pathlib import Path

from app.telemetry.metrics.instruments import Description, Instrument, Observed, Point
from asgi_doctor.cgroup import cpu_stat, throttling

_PROC = Path("/proc/self")


def process_instruments() -> list[Instrument]:
    """Returns an instrument for each metric of this module."""
    return [
        Observed(
            Description("counter", "process.cpu.time", "s", "CPU time of this process.", ("cpu.mode",)), _cpu_seconds
        ),
        Observed(Description("gauge", "process.memory.usage", "By", "Physical memory in use."), _memory),
        Observed(
            Description("gauge", "process.unix.file_descriptor.count", "{file_descriptor}", "Open file descriptors."),
            _open_files,
        ),
        *_throttling_instruments(cpu_stat()),
    ]


def _cpu_seconds() -> list[Point]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return [(("user",), used.ru_utime), (("system",), used.ru_stime)]


def _memory() -> list[Point]:
    try:
        pages = int((_PROC / "statm").read_text(encoding="utf-8").split()[1])
    except OSError:
        return []
    return [((), pages * resource.getpagesize())]


def _open_files() -> list[Point]:
    try:
        return [((), len(list((_PROC / "fd").iterdir())) - 1)]  # minus the descriptor that reads the folder
    except OSError:
        return []


def _throttling_instruments(file: Path | None) -> list[Instrument]:
    """Returns the metrics of CPU throttling. `file`: the cgroup's cpu.stat, or None if there is no such file."""
    if file is None:
        return []

    texts = (
        ("container.cpu.periods", "{period}", "Periods of the CPU limit, whether it stopped this container or not."),
        ("container.cpu.throttled_periods", "{period}", "Periods of the CPU limit in which it stopped this container."),
        ("container.cpu.throttled_time", "s", "Time for which the CPU limit stopped this container."),
    )
    return [
        Observed(Description("counter", name, unit, text), partial(_throttled, file, number))
        for number, (name, unit, text) in enumerate(texts)
    ]


def _throttled(file: Path, number: int) -> list[Point]:
    found = throttling(file)
    return [((), found[number])] if found else []
