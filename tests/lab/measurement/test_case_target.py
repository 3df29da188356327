"""A target file for vegeta: which requests it sends, and how many at once."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from lab.measurement.case import users
from lab.measurement.case_target import Target, event
from loadtest.fire import vegeta
from loadtest.stage.file_limits import raise_limit

USERS = 200


class _Server(ThreadingHTTPServer):
    """Answers no request before USERS requests are in flight at the same time."""

    daemon_threads = True
    request_queue_size = USERS

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.everybody = threading.Barrier(USERS)
        self.seen: list[tuple[str, str, bytes]] = []

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.seen.append((self.path, self.headers["Content-Type"], body))
        self.server.everybody.wait(60)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name in http.server
        """Logs nothing."""


@contextmanager
def _serving() -> Iterator[_Server]:
    with _Server() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.slow
def test_all_users_are_in_flight(tools: None, tmp_path: Path) -> None:
    """The server answers, so all users were in flight at the same time. All requests are the same."""
    load = users(USERS, 1, timeout_s=10)  # after which the last round ends, in which some users have stopped
    raise_limit(load)
    with _serving() as server:
        target = Target("POST", server.url("/x?ms=1"), event())
        vegeta.attack(load, "a test", target, tmp_path / "results.bin", lambda: None)
    hits = vegeta.hits(tmp_path / "results.bin")
    assert len(hits) >= USERS
    assert sum(hit.code == 200 for hit in hits) >= USERS
    assert set(server.seen) == {("/x?ms=1", "application/json", event())}
    assert len(event()) == 5686
