"""Decides from within a test what becomes of each event that a worker processes, and when.

A worker opens a connection for each event, and closes it when its task is cancelled or the worker has ended.
"""

import json
import socketserver
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Self

PATIENCE_SECONDS = 60


class Asked:
    """One event that a worker processes."""

    def __init__(self, event_id: str, worker: str) -> None:
        self.event_id, self.worker = event_id, worker
        self.reply: dict[str, Any] | None = None
        self.answered = threading.Event()
        self.gone = False

    def answer(self, **reply: Any) -> None:
        """`outcome=`, or `postponed=` and `unprocessable=` (a code), `retry_after=`, `crash=` (a text)."""
        self.reply = reply
        self.answered.set()


class Controller:
    """Listens on a free port inside `with`. `policy` answers an event at once; if it returns None, the test answers."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.policy: Callable[[Asked], dict[str, Any] | None] = lambda asked: None
        self._changed = threading.Condition()
        controller = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                controller._serve(self)

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            request_queue_size = 256

        self._server = Server(("127.0.0.1", 0), Handler)
        self.port: int = self._server.server_address[1]

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def events(self) -> list[str]:
        """Returns the events in the order in which workers began them."""
        return [asked.event_id for asked in list(self.asked)]

    def wait(self, wanted: Callable[[], Any], what: str = "it") -> Any:
        """Returns the first true value of `wanted`, which is called after each change."""
        with self._changed:
            found = self._changed.wait_for(wanted, PATIENCE_SECONDS)
        assert found, f"{what}: {[(asked.event_id, asked.worker, asked.gone) for asked in self.asked]}"
        return found

    def wait_for(self, event_id: str, number: int = 1) -> Asked:
        """Waits for the `number`th time that a worker began this event."""

        def found() -> Asked | None:
            times = [asked for asked in self.asked if asked.event_id == event_id]
            return times[number - 1] if len(times) >= number else None

        asked: Asked = self.wait(found, f"{event_id}, {number}")
        return asked

    def wait_for_number(self, number: int) -> None:
        """Waits until `number` events were begun."""
        self.wait(lambda: len(self.asked) >= number, f"{number} events")

    def wait_until_gone(self, asked: Asked) -> None:
        self.wait(lambda: asked.gone, "gone")

    def _serve(self, handler: socketserver.StreamRequestHandler) -> None:
        question = json.loads(handler.rfile.readline())
        asked = Asked(question["event_id"], question["worker"])
        with self._changed:
            self.asked.append(asked)
            self._changed.notify_all()
        watching = threading.Thread(target=self._watch, args=(handler, asked), daemon=True)
        watching.start()
        if (reply := self.policy(asked)) is not None:
            asked.answer(**reply)
        asked.answered.wait()
        if not asked.gone:
            handler.wfile.write(json.dumps(asked.reply).encode() + b"\n")
        watching.join()

    def _watch(self, handler: socketserver.StreamRequestHandler, asked: Asked) -> None:
        """Waits until the worker has closed its end."""
        with suppress(OSError):
            handler.rfile.read(1)
        with self._changed:
            asked.gone = True
            self._changed.notify_all()
        asked.answered.set()


def eventually(wanted: Callable[[], Any]) -> None:
    """Returns once `wanted`, which asks a queue, is true."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not wanted():
        assert time.monotonic() < deadline
        time.sleep(0.02)  # between two looks
