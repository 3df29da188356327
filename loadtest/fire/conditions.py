"""Whether an attack measured the service, or something else: the machine, the generator, the queue, the network."""

import http.client
import ssl
import threading
import time
from contextlib import suppress
from statistics import median
from typing import Self
from urllib.parse import urlsplit

import psutil

from app.local.machine import Watch
from loadtest.fire.vegeta import Hit
from loadtest.record.shapes import Conditions, Load
from loadtest.stage.stack import Stack

PING_SECONDS = 0.1
# Above these, a figure is of the generator, the queue or the network as much as of the service.
LATE_MS = 100.0
QUEUE_CORES = 0.8
PING_EXCESS_MS = 25.0


class Observer:
    """`with` observes an attack on a service in front of `stack`; `conditions` are what was seen."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._queue = psutil.Process(stack.process.pid)
        self._pings: list[float] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._ping_on, daemon=True)
        self._watch = Watch()

    def __enter__(self) -> Self:
        self._watch.__enter__()
        self._began, self._queue_began = time.monotonic(), _cpu(self._queue)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._watch.__exit__()
        self._queue_cores = (_cpu(self._queue) - self._queue_began) / max(time.monotonic() - self._began, 0.001)
        self._ended.set()
        self._thread.join()

    def conditions(self, load: Load, hits: list[Hit]) -> Conditions:
        """Of an attack with `load`, after it."""
        busy = self._watch.busy
        late = lateness_ms(load, hits)
        ping = median(self._pings) * 1000 if self._pings else None
        expected = sum(attributes.get("latency", 0) for _, attributes in self._stack.toxics)
        doubts = busy.doubts()
        if late is not None and late > LATE_MS:
            doubts.append(f"requests left up to {late:,.0f} ms late: the generator was slow")
        if self._queue_cores > QUEUE_CORES:
            doubts.append(f"the queue used {self._queue_cores:.1f} cores: it may bound the rate")
        if ping is not None and ping > expected + PING_EXCESS_MS:
            doubts.append(f"the queue answered a ping in {ping:,.0f} ms instead of {expected:,.0f}")
        return Conditions(
            foreign_cores=round(busy.foreign_cores, 3),
            stolen_cores=round(busy.stolen_cores, 3),
            queue_cores=round(self._queue_cores, 3),
            late_ms=late,
            ping_ms=ping,
            doubts=doubts,
        )

    def _ping_on(self) -> None:
        tls = self._stack.tls
        address = urlsplit(self._stack.far).netloc
        connection = http.client.HTTPConnection(address, timeout=5)
        if tls is not None:
            context = ssl.create_default_context(cafile=tls.ca)
            connection = http.client.HTTPSConnection(address, timeout=5, context=context)
        with suppress(OSError, http.client.HTTPException):
            self._ping(connection)  # the handshake
        while not self._ended.wait(PING_SECONDS):
            began = time.monotonic()
            with suppress(OSError, http.client.HTTPException):
                self._ping(connection)
                self._pings.append(time.monotonic() - began)
        connection.close()

    @staticmethod
    def _ping(connection: http.client.HTTPConnection) -> None:
        """Any response counts: it has crossed the network twice."""
        connection.request("GET", "/")
        connection.getresponse().read()


def lateness_ms(load: Load, hits: list[Hit]) -> float | None:
    """How late the latest but 1 % of an open loop's requests left; None for a closed loop."""
    if load.users is not None or not hits:
        return None
    left = sorted(hit.at for hit in hits)
    late = sorted(at - number / load.rate for number, at in enumerate(left))
    return max(0.0, 1000 * late[int(0.99 * (len(late) - 1))])


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)
