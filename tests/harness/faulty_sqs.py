"""An SQS of bare sockets, which answers SendMessageBatch with any bytes, and then ends the connection or does not."""

import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, Self

End = Callable[[socket.socket], None]


def close(connection: socket.socket) -> None:
    """Sends close_notify if the connection uses TLS. The caller then closes the socket."""
    if isinstance(connection, ssl.SSLSocket):
        connection.unwrap()


def cut(connection: socket.socket) -> None:
    """Does nothing, so that a TLS connection ends without close_notify. The caller then closes the socket."""


def reset(connection: socket.socket) -> None:
    """Has the other side read "connection reset by peer"."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class Fault(NamedTuple):
    """`sent` makes the answer from the ids of the entries; `end` prepares for the connection's end, if it has one."""

    sent: Callable[[list[str]], bytes]
    end: End | None = None


def whole(status: str, answer: object, *headers: str) -> bytes:
    body = json.dumps(answer).encode()
    return "\r\n".join([f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]).encode() + body


def acknowledging(ids: list[str]) -> dict[str, object]:
    return {"Successful": [{"Id": name, "MessageId": "m"} for name in ids]}


GOOD = Fault(lambda ids: whole("200 OK", acknowledging(ids)))


class FaultySqs:
    """Listens on a free port inside `with`, over TLS if `tls` is given. `fault`: how the server answers batches."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.fault = GOOD
        self._tls = tls
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.endpoint = f"{'https' if tls else 'http'}://127.0.0.1:{self._listener.getsockname()[1]}"
        self.queue_url = f"{self.endpoint}/000000000000/invoices"

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError, ValueError), connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
            with connection, connection.makefile("rb") as requests:
                while (head := _head(requests.readline)) is not None:
                    body = requests.read(int(head["content-length"]))
                    if head["x-amz-target"].endswith("GetQueueUrl"):
                        connection.sendall(whole("200 OK", {"QueueUrl": self.queue_url}))
                        continue
                    fault = self.fault
                    connection.sendall(fault.sent([entry["Id"] for entry in json.loads(body)["Entries"]]))
                    if fault.end is not None:
                        fault.end(connection)
                        return


def _head(line: Callable[[], bytes]) -> dict[str, str] | None:
    """Returns the headers of the next request, with names in lower case, or None at the end of the connection."""
    if not line():
        return None
    lines = iter(lambda: line().decode().strip(), "")
    return {name.lower(): value.strip() for name, _, value in (text.partition(":") for text in lines)}
