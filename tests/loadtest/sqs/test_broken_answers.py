"""Answers that go wrong on their way, as bytes on a socket."""

import json
import socket
import time
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from loadtest.stage.stand_in import StandIn
from local.embedded_aws import REGION

MIB = 1024 * 1024


class Exchange(NamedTuple):
    """The answer to a SendMessage: its bytes, the number of parts, and how the connection ended."""

    head: bytes
    body: bytes
    parts: int
    was_reset: bool

    @property
    def promised(self) -> int:
        """The length of the body by its header."""
        return int(self.head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])


def request(stand_in: StandIn, queue_url: str) -> bytes:
    headers = {"X-Amz-Target": "AmazonSQS.SendMessage", "Content-Type": "application/x-amz-json-1.0"}
    body = json.dumps({"QueueUrl": queue_url, "MessageBody": "x"})
    signed = AWSRequest("POST", stand_in.endpoint + "/", headers, body)
    SigV4Auth(Credentials("local", "local"), "sqs", REGION).add_auth(signed)
    lines = [f"{name}: {value}" for name, value in signed.prepare().headers.items()]
    head = ["POST / HTTP/1.1", f"Host: {urlsplit(stand_in.endpoint).netloc}", *lines]
    return "\r\n".join([*head, "", body]).encode()


def exchange(stand_in: StandIn, queue_url: str) -> Exchange:
    """Sends one message and then closes its side, so that the stand-in ends the connection, however it answers."""
    address = urlsplit(stand_in.endpoint)
    assert address.hostname is not None
    received, was_reset = [], False
    with socket.create_connection((address.hostname, address.port), timeout=60) as connection:
        connection.sendall(request(stand_in, queue_url))
        with suppress(OSError):  # the stand-in may have reset the connection already
            connection.shutdown(socket.SHUT_WR)
        try:
            while part := connection.recv(MIB):
                received.append(part)
        except ConnectionResetError:
            was_reset = True
    head, _, body = b"".join(received).partition(b"\r\n\r\n")
    assert stand_in.digests(queue_url).count > 0
    return Exchange(head, body, len(received), was_reset)


def broken(stand_in: StandIn, queue_url: str, answer: str) -> Exchange:
    stand_in.faults(answer=answer)
    return exchange(stand_in, queue_url)


def test_a_whole_answer(stand_in: StandIn, queue_url: str) -> None:
    """The answer without a fault is complete and leaves the connection open."""
    whole = exchange(stand_in, queue_url)
    assert (len(whole.body), whole.was_reset) == (whole.promised, False)
    assert b"MessageId" in whole.body
    assert b"connection: close" not in whole.head.lower()


def test_twice(stand_in: StandIn, queue_url: str) -> None:
    """The whole answer arrives twice."""
    twice = broken(stand_in, queue_url, "twice")
    first, second = twice.body[: twice.promised], twice.body[twice.promised :]
    assert second == twice.head + b"\r\n\r\n" + first


def test_truncated(stand_in: StandIn, queue_url: str) -> None:
    """Half of the body arrives, and the connection ends as usual."""
    cut = broken(stand_in, queue_url, "truncated")
    assert (len(cut.body), cut.was_reset) == (cut.promised // 2, False)


def test_reset(stand_in: StandIn, queue_url: str) -> None:
    """Half of the body arrives, and the connection is reset."""
    cut = broken(stand_in, queue_url, "reset")
    assert (len(cut.body), cut.was_reset) == (cut.promised // 2, True)


def test_drip(stand_in: StandIn, queue_url: str) -> None:
    """The whole body arrives, at most one byte per millisecond."""
    begun = time.monotonic()
    dripped = broken(stand_in, queue_url, "drip")
    assert len(dripped.body) == dripped.promised
    assert time.monotonic() - begun > dripped.promised / 1000
    assert dripped.parts > 2


def test_close(stand_in: StandIn, queue_url: str) -> None:
    """The answer is valid, and ends the connection."""
    closed = broken(stand_in, queue_url, "close")
    assert len(closed.body) == closed.promised
    assert b"connection: close" in closed.head.lower()


def test_giant(stand_in: StandIn, queue_url: str) -> None:
    """The stand-in sends 32 MiB or 1 MiB of valid JSON, each as 200 and as 404, and the connection ends."""
    found = [broken(stand_in, queue_url, "giant") for _ in range(4)]
    sizes = {(answer.head.split()[1], round(len(answer.body) / MIB)) for answer in found}
    assert sizes == {(b"200", 32), (b"404", 32), (b"200", 1), (b"404", 1)}
    assert all(len(answer.body) == answer.promised for answer in found)
    assert {b"MessageId" in answer.body and "MessageId" in json.loads(answer.body) for answer in found} == {True, False}


def test_an_unknown_answer(stand_in: StandIn) -> None:
    """The stand-in rejects an unknown answer, so that no test runs without the fault that it wants."""
    with pytest.raises(OSError, match="400"):
        stand_in.faults(answer="loud")
