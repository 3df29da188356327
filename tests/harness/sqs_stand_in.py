"""A stand-in for SQS that real clients call over HTTP. It can wait, fail, and enforce AWS's own limits.

It implements JSON protocol 1.0, and can do what the emulators cannot: delay a call for as long as a test needs, reject
the second entry of a batch, accept messages of 1 MiB, and respond with any bytes, with or without closing the
connection.
"""

import hashlib
import json
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self

MIB = 1024 * 1024
MAX_ENTRIES = 10


class Call(NamedTuple):
    """One call that has arrived. `peer` identifies the connection."""

    action: str
    data: dict[str, Any]
    peer: tuple[str, int]

    @property
    def bodies(self) -> list[str]:
        """Returns the message bodies of a SendMessage or SendMessageBatch."""
        return [entry["MessageBody"] for entry in self.data.get("Entries", [self.data]) if "MessageBody" in entry]


class Failure(NamedTuple):
    """An error for the whole call."""

    status: int
    code: str


def close(connection: socket.socket) -> None:
    """Sends close_notify if the connection uses TLS. The stand-in then closes the socket."""
    if isinstance(connection, ssl.SSLSocket):
        connection.unwrap()


def cut(connection: socket.socket) -> None:
    """Does nothing, so that a TLS connection ends without close_notify. The stand-in then closes the socket."""


def reset(connection: socket.socket) -> None:
    """Makes the other side read "connection reset by peer"."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class Fault(NamedTuple):
    """A fault. `sent` makes the response from the entries' ids. `end`, if not None, prepares the connection's end."""

    sent: Callable[[list[str]], bytes]
    end: Callable[[socket.socket], None] | None = None


def whole(status: str, answer: object, *headers: str) -> bytes:
    body = json.dumps(answer).encode()
    return "\r\n".join([f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]).encode() + body


def acknowledging(ids: list[str]) -> dict[str, object]:
    return {"Successful": [{"Id": name, "MessageId": "m"} for name in ids]}


def _size(entry: dict[str, Any]) -> int:
    attributes = entry.get("MessageAttributes", {}).items()
    texts = [entry["MessageBody"], *(text for name, value in attributes for text in (name, *value.values()))]
    return sum(len(text.encode()) for text in texts)


class SqsStandIn:
    """A context that listens on a free port, over TLS if `tls` is given. `held`: the actions that wait for `release`.

    `failing` returns the Failure of a call, or None. `refusing` returns the error code for a batch's entry with this
    body, or None. `raw`: the status and the body of a response, by the beginning of the action's name. `fault`: the
    response to all batches.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.calls: list[Call] = []
        self.held: set[str] = set()
        self.delay = 0.0  # seconds that each call takes
        self.failing: Callable[[Call], Failure | None] = lambda call: None
        self.refusing: Callable[[str], str | None] = lambda body: None
        self.messages: list[str] = []
        self.raw: dict[str, tuple[int, bytes]] = {}
        self.fault: Fault | None = None
        self._changed = threading.Condition()
        self._allowed = 0
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                action = self.headers["X-Amz-Target"].partition(".")[2]
                data = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if (fault := stand_in.fault) is not None and action == "SendMessageBatch":
                    self.wfile.write(fault.sent([entry["Id"] for entry in data["Entries"]]))
                    if fault.end is not None:
                        fault.end(self.connection)
                        self.close_connection = True
                    return
                raw = next((answer for name, answer in stand_in.raw.items() if action.startswith(name)), None)
                call = Call(action, data, self.client_address)
                stand_in._arrive(call)
                if raw is None:
                    status, answer = stand_in._answer(call)
                    raw = (status, json.dumps(answer).encode())
                status, body = raw
                self.send_response(status)
                self.send_header("Content-Type", "application/x-amz-json-1.0")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 1024

            def get_request(self) -> tuple[socket.socket, Any]:
                connection, peer = super().get_request()
                if tls is not None:  # the thread of the connection does the handshake when it reads
                    connection = tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
                return connection, peer

            def shutdown_request(self, request: Any) -> None:
                request.close()  # without a FIN, which would precede the RST of `reset`

            def handle_error(self, *arguments: Any) -> None:
                pass  # a service that is killed leaves connections open

        self._server = Server(("127.0.0.1", 0), Handler)
        self.endpoint = f"{'https' if tls else 'http'}://127.0.0.1:{self._server.server_address[1]}"
        self.queue_url = f"{self.endpoint}/000000000000/invoices"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.release()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    # what a test does

    def hold(self, *actions: str) -> None:
        """Makes calls of these actions wait from now on. Calls of other actions do not wait."""
        with self._changed:
            self.held = set(actions)
            self._allowed = 0
            self._changed.notify_all()

    def release(self, number: int | None = None) -> None:
        """Releases `number` waiting calls. Without `number`, releases all calls, and later calls do not wait."""
        with self._changed:
            if number is None:
                self.held = set()
            else:
                self._allowed += number
            self._changed.notify_all()

    def wait_for(self, action: str, number: int, timeout: float = 60) -> None:
        """Returns when `number` calls of `action` have arrived."""
        with self._changed:
            arrived = self._changed.wait_for(lambda: self.count(action) >= number, timeout)
        assert arrived, f"{self.count(action)} of {number} {action}"

    def count(self, action: str) -> int:
        return sum(call.action == action for call in self.calls)

    # what SQS does

    def _arrive(self, call: Call) -> None:
        with self._changed:
            self.calls.append(call)
            self._changed.notify_all()

    def _answer(self, call: Call) -> tuple[int, dict[str, Any]]:
        with self._changed:
            self._changed.wait_for(lambda: call.action not in self.held or self._allowed > 0)
            if call.action in self.held:
                self._allowed -= 1
        time.sleep(self.delay)
        failure = self.failing(call) or self._limits(call)
        if failure is not None:
            return failure.status, {"__type": f"com.amazonaws.sqs#{failure.code}", "message": failure.code}
        if call.action == "GetQueueUrl":
            return 200, {"QueueUrl": self.queue_url}
        if call.action == "SendMessage":
            return 200, self._take(call.data)
        assert call.action == "SendMessageBatch", call.action
        return 200, self._take_batch(call.data["Entries"])

    def _limits(self, call: Call) -> Failure | None:
        entries = call.data.get("Entries", [call.data] if call.action == "SendMessage" else [])
        if len(entries) > MAX_ENTRIES:
            return Failure(400, "TooManyEntriesInBatchRequest")
        if sum(_size(entry) for entry in entries) > MIB:
            return Failure(400, "BatchRequestTooLong")
        return None

    def _take(self, entry: dict[str, Any]) -> dict[str, Any]:
        with self._changed:
            self.messages.append(entry["MessageBody"])
            self._changed.notify_all()
        digest = hashlib.md5(entry["MessageBody"].encode(), usedforsecurity=False).hexdigest()
        return {"MessageId": f"m-{len(self.messages)}", "MD5OfMessageBody": digest}

    def _take_batch(self, entries: list[dict[str, Any]]) -> dict[str, Any]:
        successful, failed = [], []
        for entry in entries:
            if code := self.refusing(entry["MessageBody"]):
                failed.append({"Id": entry["Id"], "Code": code, "SenderFault": True, "Message": code})
            else:
                successful.append({"Id": entry["Id"], **self._take(entry)})
        return {"Successful": successful, "Failed": failed}
