"""Finds the processes of a service that was started elsewhere, and the CPU that the busiest process uses."""

import time
from contextlib import suppress
from typing import Self
from urllib.parse import urlsplit

import psutil

from loadtest.stage.tree import tree

_PORTS = {"http": 80, "https": 443}
# Docker's process that forwards connections to a container. It is not a process of the service.
_PASSES_ON = "docker-proxy"
# Percent of all cores. Above this, a process often waits for a core, so its low CPU use does not mean that it is idle.
_MACHINE_FULL = 95


class Listener:
    """A context that measures the processes of this machine that listen on the port of `url`, and their descendants.

    `busiest`: the CPU of the busiest of these processes, in cores, or None if no such process is visible.
    """

    busiest: float | None = None

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._processes = _listening(parts.port or _PORTS[parts.scheme])

    def __enter__(self) -> Self:
        self._began, self._before = time.monotonic(), self._cpu()
        psutil.cpu_percent()  # the next call returns the average since this call
        return self

    def __exit__(self, *error: object) -> None:
        self._machine = psutil.cpu_percent()
        seconds, after = max(time.monotonic() - self._began, 0.001), self._cpu()
        spent = [after[pid] - before for pid, before in self._before.items() if pid in after]
        self.busiest = max(spent) / seconds if spent else None

    def doubts(self) -> list[str]:
        """Returns a reason to doubt `busiest` if all cores were busy almost all the time. Otherwise, returns []."""
        if self._machine < _MACHINE_FULL:
            return []
        return [f"the cores of this machine were busy for {self._machine:.0f} % of the time: a process waits for one"]

    def _cpu(self) -> dict[int, float]:
        """Returns the CPU seconds that each process has used so far, by process id."""
        found: dict[int, float] = {}
        for process in {one.pid: one for pid in self._processes for one in tree(pid)}.values():
            with suppress(psutil.Error):
                times = process.cpu_times()
                found[process.pid] = times.user + times.system
        return found


def _listening(port: int) -> list[int]:
    """Returns the ids of the processes that listen on `port`, as far as this user may see their sockets."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            sockets = process.net_connections("tcp")
            listens = any(one.status == psutil.CONN_LISTEN and one.laddr.port == port for one in sockets)
            if listens and process.name() != _PASSES_ON:
                found.append(process.pid)
    return found
