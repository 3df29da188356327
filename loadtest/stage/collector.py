"""Runs a collector of telemetry that accepts everything and stores nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


class _Accept(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keep-alive, as with a real collector

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments: Any) -> None:
        pass


@contextmanager
def collector() -> Iterator[str]:
    """Runs a collector inside the context, and yields its URL, for OTEL_EXPORTER_OTLP_ENDPOINT."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Accept)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
