"""Sends webhooks from many senders at once, until the service closes its listener."""

import math
import socket
import threading
import time
from collections import Counter

from app.server.listener import drop_new
from app.server.run import LAST_CALL_SECONDS
from tests.harness.raw import RawSender

# The outcome of a sender that has paused between connecting and its first webhook. A service that stops waits at most
# LAST_CALL_SECONDS for the first webhook, so it may have closed the connection.
SENT_TOO_LATE = "sent too late"


class Load:
    """Senders that each post one webhook after the other until a connection is refused.

    `seen` counts statuses and the names of errors. Without `keep_alive`, each webhook has a new connection.
    """

    def __init__(self, address: tuple[str, int], event: bytes, senders: int = 8, *, keep_alive: bool = True) -> None:
        self._outcomes: list[str] = []  # not a Counter, because threads can safely append, but not count
        self._address = address
        self._event = event
        self._keep_alive = keep_alive
        self._answered = threading.Semaphore(0)
        self._threads = [threading.Thread(target=self._send_on, daemon=True) for _ in range(senders)]
        for thread in self._threads:
            thread.start()

    def _send_on(self) -> None:
        while (outcome := self._send()) != "ConnectionRefusedError":
            self._outcomes.append(outcome)
            self._answered.release()

    def _send(self) -> str:
        """Posts webhooks on one connection until it ends. Records all outcomes but the last, and returns the last."""
        answer = b""
        opened, sent = time.monotonic(), math.inf
        try:
            with RawSender(self._address) as sender:
                while True:
                    sender.head(f"Content-Length: {len(self._event)}", body=self._event)
                    sent = min(sent, time.monotonic())
                    answer = sender.answer()
                    status = answer[9:12].decode() or "closed without an answer"
                    if status not in ("200", "503") or not self._keep_alive or b"connection: close" in answer.lower():
                        break
                    opened = math.inf  # only the first webhook can be late
                    self._outcomes.append(status)
                    self._answered.release()
        except ConnectionRefusedError as error:
            return type(error).__name__
        except OSError as error:
            answer, status = b"", type(error).__name__
        late = min(sent, time.monotonic()) - opened >= LAST_CALL_SECONDS / 2
        return SENT_TOO_LATE if late and not answer else status

    @property
    def seen(self) -> Counter[str]:
        return Counter(self._outcomes)

    def wait_for_answers(self, number: int) -> None:
        for _ in range(number):
            assert self._answered.acquire(timeout=60)

    def join(self) -> None:
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive()


def can_drop_new() -> bool:
    """Returns whether this user may filter a listener. Linux 6.18.44 requires CAP_NET_ADMIN, which containers lack."""
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.socket() as client:
        drop_new(listening)
        client.settimeout(0.2)
        return client.connect_ex(listening.getsockname()) != 0
