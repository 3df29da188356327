"""The HTTP server of the metrics: a thread and a deadline for each scrape, and a bound on the number of scrapes.

Clients need no credentials here, and each connection takes a file descriptor that webhooks need.
"""

import socket
import time
from contextlib import suppress
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from loguru import logger
from prometheus_client import CollectorRegistry, make_wsgi_app

SCRAPES = 16  # at the same time; the server closes further connections
# Time for each scrape, as Prometheus' own time-out: https://prometheus.io/docs/prometheus/latest/configuration/configuration/
SECONDS = 10.0


class ScrapeServer(ThreadingMixIn, WSGIServer):
    """Answers SCRAPES requests at the same time, each within SECONDS."""

    daemon_threads = True

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._deadlines: dict[Any, float] = {}  # by open connection

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Returns whether to serve the connection; otherwise, the server closes it."""
        return len(self._deadlines) < SCRAPES

    def process_request(self, request: Any, client_address: Any) -> None:
        self._deadlines[request] = time.monotonic() + SECONDS
        super().process_request(request, client_address)

    def service_actions(self) -> None:
        """Cuts the connections that are past their deadlines. The server calls this twice a second."""
        now = time.monotonic()
        for request in [request for request, deadline in list(self._deadlines.items()) if deadline < now]:
            with suppress(OSError):  # the connection has ended meanwhile
                request.shutdown(socket.SHUT_RDWR)  # the thread of the scrape then fails and closes the connection

    def shutdown_request(self, request: Any) -> None:
        """Closes a connection, whether it was served, refused, or had no thread."""
        self._deadlines.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Logs a failed scrape. Usually, the client has gone."""
        logger.opt(exception=True).debug("A scrape failed")


class _Handler(WSGIRequestHandler):
    def log_message(self, *args: Any) -> None:
        """Logs no request."""


def scrape_server(host: str, port: int, registry: CollectorRegistry) -> ScrapeServer:
    """Returns a server that listens on `host` and `port`. Raises OSError, OverflowError and UnicodeError."""
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    server_class = type("Server", (ScrapeServer,), {"address_family": family})
    return make_server(str(address[0]), port, make_wsgi_app(registry), server_class, _Handler)
