"""Watches the queue during an attack: the CPU that it uses, and its response time through toxiproxy."""

import http.client
import ssl
import threading
import time
from contextlib import suppress
from statistics import median
from typing import Self
from urllib.parse import urlsplit

import psutil

from loadtest.stage.stack import Far

PING_SECONDS = 0.1
# Above these limits, the figures depend on the queue or the network as much as on the service.
QUEUE_CORES = 0.8
PING_EXCESS_MS = 25.0


class QueueWatch:
    """A context that watches the queue. `cores`: its average CPU use.

    `ping_ms`: its median response time, or None if the queue has answered no ping.
    """

    cores: float

    def __init__(self, stack: Far) -> None:
        self._stack = stack
        self._process = psutil.Process(stack.process.pid)
        self._pings: list[float] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._ping_on, daemon=True)

    def __enter__(self) -> Self:
        self._began, self._cpu_began = time.monotonic(), self._cpu()
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.cores = (self._cpu() - self._cpu_began) / max(time.monotonic() - self._began, 0.001)
        self._ended.set()
        self._thread.join()

    @property
    def ping_ms(self) -> float | None:
        return median(self._pings) * 1000 if self._pings else None

    def doubts(self) -> list[str]:
        """Returns a line for each reason why the figures may depend on the queue or the network."""
        doubts = []
        if self.cores > QUEUE_CORES:
            doubts.append(f"the queue used {self.cores:.1f} cores: it may bound the rate")
        expected = sum(attributes.get("latency", 0) for _, attributes in self._stack.toxics)
        if self.ping_ms is not None and self.ping_ms > expected + PING_EXCESS_MS:
            doubts.append(f"the queue answered a ping in {self.ping_ms:,.0f} ms instead of {expected:,.0f}")
        return doubts

    def _cpu(self) -> float:
        times = self._process.cpu_times()
        return float(times.user + times.system)

    def _ping_on(self) -> None:
        tls = self._stack.tls
        address = urlsplit(self._stack.far).netloc
        connection = http.client.HTTPConnection(address, timeout=5)
        if tls is not None:
            context = ssl.create_default_context(cafile=tls.ca)
            connection = http.client.HTTPSConnection(address, timeout=5, context=context)
        with suppress(OSError, http.client.HTTPException):
            _ping(connection)  # the first ping is not measured, because it includes the handshake
        while not self._ended.wait(PING_SECONDS):
            began = time.monotonic()
            try:
                _ping(connection)
                self._pings.append(time.monotonic() - began)
            except (OSError, http.client.HTTPException):
                connection.close()  # otherwise every further request would raise CannotSendRequest
        connection.close()


def _ping(connection: http.client.HTTPConnection) -> None:
    """Sends a request and reads the response. Any status will do, because only the time matters."""
    connection.request("GET", "/")
    connection.getresponse().read()
