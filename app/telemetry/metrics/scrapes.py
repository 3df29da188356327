"""The HTTP server of the metrics: a thread for each scrape, with a bound of them and a deadline for each.

Whoever reaches the port needs no credentials, and shares the process's file descriptors with the webhooks.
"""

import socket
import threading
from contextlib import suppress
from typing import Any
from wsgiref.simple_server import make_server

from loguru import logger
from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.exposition import ThreadingWSGIServer, _SilentHandler

SCRAPES = 16  # at the same time; further connections are closed
SECONDS = (
    10.0  # for each; Prometheus' own default: https://prometheus.io/docs/prometheus/latest/configuration/configuration/
)


class ScrapeServer(ThreadingWSGIServer):
    """Answers SCRAPES requests at the same time, each within SECONDS."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._free = threading.BoundedSemaphore(SCRAPES)

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Returns whether the connection is served; otherwise it is closed."""
        return self._free.acquire(blocking=False)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        deadline = threading.Timer(SECONDS, _cut, [request])  # a daemon, as this thread is
        deadline.start()
        try:
            super().process_request_thread(request, client_address)
        finally:
            deadline.cancel()
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Logs a scrape that failed, mostly because its client had gone."""
        logger.opt(exception=True).debug("A scrape failed")


def scrape_server(host: str, port: int, registry: CollectorRegistry) -> ScrapeServer:
    """Returns a server that listens on `host` and `port`. Raises OSError, OverflowError and UnicodeError."""
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    server_class = type("Server", (ScrapeServer,), {"address_family": family})
    return make_server(str(address[0]), port, make_wsgi_app(registry), server_class, _SilentHandler)


def _cut(connection: socket.socket) -> None:
    with suppress(OSError):  # it has ended meanwhile
        connection.shutdown(socket.SHUT_RDWR)
