"""Tests what a handler does after its client has left, while the upstream's answers are withheld until then."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from lab.measurement.beside import Beside
from lab.measurement.questions.disconnect import work
from lab.measurement.stage import Stage, uvicorn
from lab.questions.disconnect import CALLS
from lab.stand_ins.upstream import RunningUpstream
from tests.lab.questions.client import connected, sent
from tests.lab.questions.conftest import Until


@contextmanager
def withheld() -> Iterator[tuple[str, threading.Event]]:
    """Yields the URL of an upstream, and the event without which it does not answer."""
    released = threading.Event()

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # the library's name
            released.wait(120)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the library's name
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", released
        released.set()
        server.shutdown()


def left(stage: Stage, until: Until, path: str, middleware: str) -> dict[str, int]:
    """Returns the work of a handler that has ended, and whose client left during the first call."""
    with withheld() as (upstream, released):
        far = Beside(RunningUpstream(upstream, 0), None)
        with Stage(far, stage.folder, quick=True).serve(uvicorn("disconnect"), middleware=middleware) as app:
            with sent(app.url, path) as client:
                until(lambda: work(app.url)["started"] == 1)
                port = client.getsockname()[1]
            until(lambda: not connected(app.pid, port))  # so the server knows that the client has left
            if path != "/cancelled":
                assert work(app.url)["ended"] == 0
                released.set()
            until(lambda: work(app.url)["ended"] == 1)
            return work(app.url)


@pytest.mark.parametrize(
    ("path", "middleware"), [("/runs_on", "none"), ("/runs_on", "base_http"), ("/asks", "base_http")]
)
def test_it_runs_to_its_end_for_nobody(stage: Stage, until: Until, path: str, middleware: str) -> None:
    """An ordinary handler runs on and, behind BaseHTTPMiddleware, so does one that asks `is_disconnected()`."""
    assert left(stage, until, path, middleware) == {"started": 1, "calls": CALLS, "finished": 1, "ended": 1}


def test_one_that_asks_ends_after_the_call(stage: Stage, until: Until) -> None:
    """`is_disconnected()` is true after the answer to the first call, if there is no BaseHTTPMiddleware."""
    assert left(stage, until, "/asks", "none") == {"started": 1, "calls": 1, "finished": 0, "ended": 1}


@pytest.mark.parametrize("middleware", ["none", "base_http"])
def test_one_that_receives_the_disconnect_is_cancelled(stage: Stage, until: Until, middleware: str) -> None:
    """The handler ends during its first call, which is never answered, even behind BaseHTTPMiddleware."""
    assert left(stage, until, "/cancelled", middleware) == {"started": 1, "calls": 0, "finished": 0, "ended": 1}
