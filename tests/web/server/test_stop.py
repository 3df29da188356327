"""A stop under load: no connection is reset, whatever it came with; exit code 0."""

import signal
import socket
import threading
from collections import Counter
from collections.abc import Iterator

import pytest

from app.web.server.listener import drop_new
from tests.harness.raw import BASIC
from tests.harness.service import Service
from tests.harness.sqs_stand_in import SqsStandIn

SENDERS = 100


@pytest.fixture
def sqs() -> Iterator[SqsStandIn]:
    with SqsStandIn() as stand_in:
        yield stand_in


class NewConnections:
    """Senders that open a connection for each webhook, until one is refused; what they saw."""

    def __init__(self, address: tuple[str, int], event: bytes) -> None:
        head = ("POST /webhooks/chargebee HTTP/1.1", "Host: service", f"Authorization: {BASIC}")
        self.seen: Counter[str] = Counter()
        self._address = address
        self._webhook = "\r\n".join([*head, f"Content-Length: {len(event)}", "", ""]).encode() + event
        self._answered = threading.Semaphore(0)
        self._threads = [threading.Thread(target=self._send_on, daemon=True) for _ in range(SENDERS)]
        for thread in self._threads:
            thread.start()

    def _send_on(self) -> None:
        while (outcome := self._send()) != "ConnectionRefusedError":
            self.seen[outcome] += 1
            self._answered.release()

    def _send(self) -> str:
        """The status, or the error's name."""
        try:
            with socket.create_connection(self._address, timeout=30) as connection:
                connection.sendall(self._webhook)
                answer = b""
                while b"\r\n\r\n" not in answer:
                    if not (more := connection.recv(65_536)):
                        return "closed without an answer"
                    answer += more
                return answer[9:12].decode()
        except OSError as error:
            return type(error).__name__

    def wait_for_answers(self, number: int) -> None:
        for _ in range(number):
            assert self._answered.acquire(timeout=60)

    def join(self) -> None:
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive()


def _can_drop_new() -> bool:
    """Whether the kernel lets this user filter a listener: 6.18 wanted CAP_NET_ADMIN for it, which containers lack."""
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.socket() as newcomer:
        drop_new(listening)
        newcomer.settimeout(0.2)
        return newcomer.connect_ex(listening.getsockname()) != 0


@pytest.mark.parametrize("settings", [{}, {"http": "h11", "loop": "asyncio"}, {"accept": "one"}], ids=str)
def test_stops_with_new_connections(sqs: SqsStandIn, event: bytes, settings: dict[str, object]) -> None:
    """Whoever is connected when the listener closes has its answer, three times in a row."""
    for _ in range(3):
        with Service(sqs.endpoint, sqs.queue_url, drain_delay=0, **settings) as service:
            load = NewConnections(service.address, event)
            load.wait_for_answers(2 * SENDERS)
            code = service.stop()
            load.join()
        assert code == 0
        allowed = {"200", "503"} | (set() if _can_drop_new() else {"ConnectionResetError"})
        assert set(load.seen) <= allowed


def test_the_filter_drops_syns_alone() -> None:
    """A handshake that is under way can be completed, and who is in the accept queue can still be accepted."""
    if not _can_drop_new():
        pytest.skip("this kernel does not let this user filter a listener")
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        socket.create_connection(listening.getsockname()) as early,
    ):
        drop_new(listening)
        accepted, _ = listening.accept()
        with accepted:
            early.sendall(b"hello")
            assert accepted.recv(5) == b"hello"


@pytest.mark.parametrize("other", [signal.SIGHUP, signal.SIGWINCH], ids=lambda sig: sig.name)
def test_other_signals_are_no_second_one(sqs: SqsStandIn, event: bytes, other: signal.Signals) -> None:
    """A terminal that closes or changes its size while the process drains does not cut it short."""
    with Service(sqs.endpoint, sqs.queue_url, drain_delay=1) as service:
        service.process.send_signal(signal.SIGTERM)
        service.wait_for("Draining")
        service.process.send_signal(other)
        assert service.post(event).status_code == 503
        assert service.process.wait(30) == 0
    assert not any("Second signal" in line["message"] for line in service.lines)


def test_a_terminal_that_closes(sqs: SqsStandIn, event: bytes) -> None:
    """SIGHUP as the first signal is a stop like Ctrl-C's: what is in flight is finished."""
    sqs.hold("SendMessageBatch")
    with Service(sqs.endpoint, sqs.queue_url, drain_delay=300) as service:
        load = threading.Thread(target=lambda: statuses.append(service.post(event).status_code))
        statuses: list[int] = []
        load.start()
        sqs.wait_for("SendMessageBatch", 1)
        service.process.send_signal(signal.SIGHUP)
        service.wait_for("Draining")
        sqs.release()
        load.join(30)
        assert service.process.wait(30) == 0
    assert statuses == [200]
