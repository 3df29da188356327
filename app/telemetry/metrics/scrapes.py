"""Runs the HTTP server from which Prometheus scrapes the metrics. Each scrape has a thread and a deadline.

The number of scrapes at the same time is limited, because clients of this server need no credentials. Each connection
takes a file descriptor, and webhooks need file descriptors, too.
"""

import socket
import time
from contextlib import suppress
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from loguru import logger
from prometheus_client import CollectorRegistry, make_wsgi_app

# Maximum number of scrapes at the same time. The server closes further connections at once.
SCRAPES = 16
# Time-out of a scrape, which is also Prometheus' default: https://prometheus.io/docs/prometheus/latest/configuration/configuration/
SECONDS = 10.0


class ScrapeServer(ThreadingMixIn, WSGIServer):
    """Serves at most SCRAPES requests at the same time, and each for at most SECONDS."""

    daemon_threads = True

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._deadlines: dict[Any, float] = {}  # the deadline of each open connection

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Returns True if the server should serve the connection. Otherwise, the server closes the connection."""
        return len(self._deadlines) < SCRAPES

    def process_request(self, request: Any, client_address: Any) -> None:
        self._deadlines[request] = time.monotonic() + SECONDS
        super().process_request(request, client_address)

    def service_actions(self) -> None:
        """Shuts down connections whose deadlines have passed. The server calls this method at least twice a second."""
        now = time.monotonic()
        for request in [request for request, deadline in list(self._deadlines.items()) if deadline < now]:
            with suppress(OSError):  # raised if the client has closed the connection
                request.shutdown(socket.SHUT_RDWR)  # the thread of the scrape then fails and closes the connection

    def shutdown_request(self, request: Any) -> None:
        """Closes a connection. The server calls this method even for a connection that it did not serve."""
        self._deadlines.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Logs a failed scrape. The usual cause is that the client has disconnected."""
        logger.opt(exception=True).debug("A scrape failed")


class _Handler(WSGIRequestHandler):
    def log_message(self, *args: Any) -> None:
        """Does nothing, so that successful scrapes are not logged."""


def scrape_server(host: str, port: int, registry: CollectorRegistry) -> ScrapeServer:
    """Returns a server on `host` and `port`. Raises OSError, OverflowError or UnicodeError if it cannot listen."""
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    server_class = type("Server", (ScrapeServer,), {"address_family": family})
    return make_server(str(address[0]), port, make_wsgi_app(registry), server_class, _Handler)
