"""Transports for asyncio without sockets: senders of webhooks, and a fake SQS that acknowledges every message."""

import asyncio
import re
from collections import deque
from collections.abc import Callable
from typing import Any

_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_ID = b'"Id":'
_LEAST = 5_000  # bytes to skip before the search for the next id; a webhook is longer than this


class FakeTransport(asyncio.Transport):
    """A transport without a socket, which is never full. `on_write` gets the bytes that the protocol writes."""

    def __init__(self, protocol: asyncio.Protocol) -> None:
        super().__init__({"peername": ("127.0.0.1", 50_000), "sockname": ("127.0.0.1", 8000)})
        self.protocol = protocol
        self._closing = False
        protocol.connection_made(self)

    def on_write(self, data: bytes) -> None:
        raise NotImplementedError

    def write(self, data: Any) -> None:
        self.on_write(bytes(data))

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        if not self._closing:
            self._closing = True
            asyncio.get_running_loop().call_soon(self.protocol.connection_lost, None)

    abort = close

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


class Sender(FakeTransport):
    """The connection of a sender of webhooks. Calls `answered` with itself and the first bytes of each response."""

    def __init__(self, protocol: asyncio.Protocol, answered: "Callable[[Sender, bytes], None]") -> None:
        self._answered = answered
        super().__init__(protocol)

    def on_write(self, data: bytes) -> None:
        if data.startswith(b"HTTP/1.1 "):  # otherwise, `data` is a body, which is written after its head
            self._answered(self, data)


class FakeSqs:
    """A fake SQS. It answers GetQueueUrl at once, but SendMessageBatch only when `answer_oldest` is called."""

    def __init__(self, queue_url: str) -> None:
        self.queue_url = queue_url
        self._calls: deque[tuple[SqsConnection, bytes]] = deque()
        self.calls = self.messages = 0

    async def connect(self, factory: Callable[[], asyncio.Protocol], *_: Any, **__: Any) -> Any:
        """Replaces the event loop's `create_connection`."""
        connection = SqsConnection(factory(), self._on_request)
        return connection, connection.protocol

    def _on_request(self, connection: "SqsConnection", head: bytes, body: bytes) -> None:
        if b"AmazonSQS.GetQueueUrl" in head:
            answer = response(b'{"QueueUrl":"%s"}' % self.queue_url.encode())
            asyncio.get_running_loop().call_soon(connection.protocol.data_received, answer)
        else:
            self._calls.append((connection, body))

    def answer_oldest(self) -> None:
        """Acknowledges all messages of the oldest waiting call, if there is one."""
        if self._calls:
            connection, body = self._calls.popleft()
            ids = _ids(body)
            self.calls += 1
            self.messages += len(ids)
            entries = b",".join(b'{"Id":"%s","MessageId":"m-%s","MD5OfMessageBody":"-"}' % (name, name) for name in ids)
            connection.protocol.data_received(response(b'{"Successful":[%s]}' % entries))


def _ids(body: bytes) -> list[bytes]:
    """Returns the ids of a call's entries. Does not parse the JSON, because callgrind counts this function as well."""
    ids = []
    at = body.find(_ID)  # only an entry has these bytes, because quotes inside a message are escaped
    while at >= 0:
        start = body.index(b'"', at + len(_ID)) + 1
        ids.append(body[start : body.index(b'"', start)])
        at = body.find(_ID, at + _LEAST)
    return ids


class SqsConnection(FakeTransport):
    """A client's connection to SQS. Passes the head and the body of each complete request to `on_request`."""

    def __init__(self, protocol: asyncio.Protocol, on_request: "Callable[[SqsConnection, bytes, bytes], None]") -> None:
        self._on_request = on_request
        self._received = b""
        super().__init__(protocol)

    def on_write(self, data: bytes) -> None:
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        if end and len(body) == int(_LENGTH.search(head)[1]):  # type: ignore[index]
            self._received = b""
            self._on_request(self, head, body)


def response(body: bytes, status: bytes = b"200 OK") -> bytes:
    """Returns the bytes of an HTTP response in the form in which SQS sends it."""
    head = b"HTTP/1.1 %s\r\ncontent-type: application/x-amz-json-1.0\r\ncontent-length: %d\r\n\r\n"
    return head % (status, len(body)) + body
