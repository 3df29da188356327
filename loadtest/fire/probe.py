"""Probes a service during an attack, as the kubelet does: one probe after the other, each on a new connection."""

import http.client
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import NamedTuple, Self
from urllib.parse import urlsplit

from loadtest.record.shapes import ProbeLatencies

INTERVAL_SECONDS = 0.1
# The same as in the liveness probe of the Kubernetes manifests.
TIMEOUT_SECONDS = 30


class ProbeResult(NamedTuple):
    """The result of a probe. `at`: its start, in seconds since the start of the first probe. `latency`: in seconds.

    `answered`: whether the response was healthy. The latency of a failed probe may be short, because a connection to a
    dead process is refused at once.
    """

    at: float
    latency: float
    answered: bool


class Prober:
    """A context that probes a service. `sequence`: all results. `probes()` summarises the results.

    `path` replaces the path of `url`. `is_healthy` returns whether a status is healthy.
    """

    def __init__(
        self,
        url: str,
        path: str = "/healthz",
        is_healthy: Callable[[int], bool] = lambda status: status == http.client.OK,
    ) -> None:
        self._address, self._path, self._is_healthy = urlsplit(url), path, is_healthy
        self.sequence: list[ProbeResult] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()

    def probes(self) -> ProbeLatencies | None:
        """Returns the latencies of the healthy responses, the number of probes, and the number of failed probes.

        Returns None if there was no probe.
        """
        if not self.sequence:
            return None
        number = len(self.sequence)
        ordered = sorted(1000 * probe.latency for probe in self.sequence if probe.answered)
        if not ordered:
            return ProbeLatencies(path=self._path, number=number, failed=number)
        p50, p99 = (ordered[int(share * len(ordered))] for share in (0.5, 0.99))
        failed = number - len(ordered)
        return ProbeLatencies(path=self._path, number=number, failed=failed, p50=p50, p99=p99, slowest=ordered[-1])

    def _run(self) -> None:
        first: float | None = None
        while not self._ended.wait(INTERVAL_SECONDS):
            started = time.monotonic()
            first = first or started
            try:
                answered = self._probe()
            except (OSError, http.client.HTTPException):
                answered = False
            self.sequence.append(ProbeResult(started - first, time.monotonic() - started, answered))

    def _probe(self) -> bool:
        secure = self._address.scheme == "https"
        connection = (http.client.HTTPSConnection if secure else http.client.HTTPConnection)(
            self._address.netloc, timeout=TIMEOUT_SECONDS
        )
        try:
            connection.request("GET", self._path)
            return self._is_healthy(connection.getresponse().status)
        finally:
            connection.close()
