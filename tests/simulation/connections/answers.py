"""Parses the bytes that the server has written, with h11 as the client."""

from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from typing import NamedTuple

import h11


class Answer(NamedTuple):
    """A final response. `closes`: the response announces that the server will close the connection.

    `complete`: the client has the whole response. A response without a length, which ends with the connection, counts
    as complete.
    """

    status: int
    closes: bool
    complete: bool


def read(written: bytes, methods: Sequence[str]) -> Iterator[Answer]:
    """Yields the answers to requests with `methods`, then any further answers. Raises h11.RemoteProtocolError."""
    for method in chain(methods, repeat("GET")):
        if not written:
            return
        client = h11.Connection(h11.CLIENT)
        client.send(h11.Request(method=method, target="/", headers=[("Host", "x")]))
        client.send(h11.EndOfMessage())
        client.receive_data(written)
        while isinstance(response := client.next_event(), h11.InformationalResponse):
            pass
        if not isinstance(response, h11.Response):
            return
        while isinstance(event := client.next_event(), h11.Data):
            pass
        closes = (b"connection", b"close") in response.headers
        ended = isinstance(event, h11.EndOfMessage)
        until_the_end = not {b"content-length", b"transfer-encoding"} & {name for name, _ in response.headers}
        yield Answer(response.status_code, closes, ended or until_the_end)
        if not ended:
            return
        written = client.trailing_data[0]
