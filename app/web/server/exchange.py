"""Defines the interface between the callback protocol and the code that handles a request without ASGI."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Protocol

_CLOSE = (b"connection", b"close")


class Connection(Protocol):
    """The part of `CallbackProtocol` that exchanges use."""

    app_state: dict[str, Any]

    def expect_body(self, seconds: float, late: Callable[[], None]) -> None: ...

    def write_response(
        self, exchange: "Exchange", status: int, headers: Collection[tuple[bytes, bytes]], body: bytes
    ) -> None: ...


class Exchange:
    """One request and its response. Takes the place of uvicorn's cycle, and has the attributes that uvicorn uses.

    The protocol calls the methods that a subclass has to implement. `respond` may be called at any time, once.
    """

    __slots__ = (
        *("_connection", "_parts", "body", "disconnected", "keep_alive"),
        *("more_body", "response_complete", "response_started"),
    )

    def __init__(self, connection: Connection, keep_alive: bool) -> None:
        self._connection: Connection | None = connection  # until the response is complete
        self.body = b""  # complete when `body_complete` is called
        self._parts: bytearray | None = None  # the body so far, if it arrives in several parts
        self.more_body = True
        self.keep_alive = keep_alive
        self.disconnected = self.response_started = self.response_complete = False

    def head_complete(self, fields: Mapping[bytes, bytes]) -> None:
        """Decides about the request. Called before any byte of the body is added."""
        raise NotImplementedError

    def body_incomplete(self) -> None:
        """Checks the part of the body that has arrived. Called after each read that does not complete the body."""
        raise NotImplementedError

    def body_complete(self) -> None:
        """Handles the request, whose body is complete."""
        raise NotImplementedError

    def abandoned(self) -> None:
        """Ends the request: the client has disconnected or stopped sending, or the rest of the body is malformed."""
        raise NotImplementedError

    @property
    def message_event(self) -> "Exchange":
        return self

    def set(self) -> None:
        """Stands in for uvicorn's event, which uvicorn sets after each change of the attributes."""
        if self.disconnected:
            self.abandoned()

    @property
    def received(self) -> int:
        """The number of bytes of the body that have arrived."""
        return len(self.body if self._parts is None else self._parts)

    def add(self, part: bytes) -> None:
        """Adds a part of the body. Most bodies have one part, which is not copied."""
        if self._parts is not None:
            self._parts += part
        elif self.body:
            self._parts = bytearray(self.body)
            self._parts += part
        else:
            self.body = part

    def end_body(self, *, last: bool) -> None:
        """Completes the body. `last`: the parser reads no further request, which may be certain only after trailers."""
        self.more_body = False
        if last:
            self.keep_alive = False
        if self._parts is not None:
            self.body = bytes(self._parts)

    def expect_body(self, seconds: float, late: Callable[[], None]) -> None:
        """Calls `late` in `seconds`, unless body or response is complete, or the request is abandoned, by then.

        Later calls have no effect.
        """
        if self._connection is not None:
            self._connection.expect_body(seconds, late)

    def respond(self, status: int, headers: Collection[tuple[bytes, bytes]], body: bytes) -> None:
        """Writes head and body in one call, unless the client has disconnected.

        If the body is incomplete, the connection stays open until the rest has arrived, for at most LINGER_SECONDS.
        Closing a socket that has unread bytes resets the connection, and the client may lose the response.
        """
        connection = self._connection
        self.response_started = self.response_complete = True
        self.detach()
        if connection is None or self.disconnected:
            return
        if _CLOSE in headers:
            self.keep_alive = False
        elif not self.keep_alive:
            headers = [*headers, _CLOSE]
        connection.write_response(self, status, headers, body)

    def detach(self) -> None:
        """Frees the body, and breaks the reference cycle of connection and exchange."""
        self._connection = self._parts = None
        self.body = b""


class Door:
    """Makes the exchanges for POST requests to `path`."""

    path: bytes
    _defaults: tuple[list[tuple[bytes, bytes]] | None, bytes] = None, b""

    def default_lines(self, headers: list[tuple[bytes, bytes]]) -> bytes:
        """Returns the lines of uvicorn's default headers. uvicorn makes a new list every second, with the new date."""
        if self._defaults[0] is not headers:
            self._defaults = headers, lines(headers)
        return self._defaults[1]

    def exchange(self, connection: Connection, keep_alive: bool) -> Exchange:
        raise NotImplementedError


def lines(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Returns the lines of headers."""
    return b"".join([b"%s: %s\r\n" % header for header in headers])
