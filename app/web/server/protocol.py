"""Limits what uvicorn's httptools protocol reads before it calls the application.

uvicorn 0.54 and httptools 0.9 (llhttp 9) store heads and trailers without a limit
(https://github.com/Kludex/uvicorn/issues/157), and add trailers (headers after the body) to the headers. If a request
asks for an upgrade, they parse the request's body as another request
(https://github.com/Kludex/uvicorn/issues/2722).
"""

from collections.abc import Mapping

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from app.web.server import heads
from app.web.server.cycle import abandon, close_after, end_body
from app.web.server.deadlines import Deadlines
from app.web.server.heads import HeadRefused

# Maximum number of requests that wait on a connection for the response to an earlier request (pipelining). Each waiting
# request takes some kilobytes before authentication, and senders of webhooks do not use pipelining.
MAX_PIPELINED = 1


class BoundedHttpToolsProtocol(Deadlines, HttpToolsProtocol):
    """Answers 400 and closes the connection if a head is too large or ambiguous. Discards trailers.

    If a request asks for an upgrade, answers it as a normal request and then closes the connection.
    """

    _in_body = False
    _since_body = 0  # number of bytes received since the last part of a body
    _complete = 0  # number of bytes in the newest read that belong to bodies, or to whole heads
    _upgrading = False
    _body_left = 0  # bytes still missing from the body of a request for an upgrade, which llhttp does not parse
    _method, _version = b"", ""  # of the newest request whose head is complete
    _stopped = False  # the server ignores all further bytes from this client
    _earlier: RequestResponseCycle | None = None  # the previous request; `cycle` is the newest

    def connection_lost(self, exc: Exception | None) -> None:
        if self._earlier is not None:
            abandon(self._earlier)  # uvicorn itself abandons only the newest request
        super().connection_lost(exc)

    def head_arriving(self) -> bool:
        return self._head_begun and not self._in_body

    def await_next(self) -> None:
        self._earlier = None  # it has its response, and would keep its head in memory
        super().await_next()

    def rest_expected(self) -> bool:
        return self.cycle is not None and self.cycle.response_complete and self.cycle.more_body

    def answer_expected(self) -> bool:
        return bool(self.pipeline) or super().answer_expected()  # a request is complete if another request follows it

    def data_received(self, data: bytes) -> None:
        if self._stopped:
            return
        if not self._received.count_read(len(data)):
            self._refuse(heads.TOO_MUCH)
            return
        if self._upgrading:
            self._read_body(data)
            return
        # `on_headers_complete` adds the whole head, of which a part may have arrived in earlier reads.
        self._complete = -self._since_body if self.head_arriving() else 0
        self._since_body += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._read_body(data[upgrade.args[0] :])
        except httptools.HttpParserError as error:
            refused = isinstance(error.__context__, HeadRefused)
            self._refuse(str(error.__context__) if refused else "Invalid HTTP request received.")
        else:
            self._check_head(len(data))
            self.close_if_stopping()

    def _check_head(self, read: int) -> None:
        """Checks how many bytes of an incomplete head have arrived with a read of `read` bytes. Sets its deadline."""
        if self._since_body == 0 and self.head_arriving():  # the head follows a complete request of the same read
            self._since_body = read - self._complete
        if self._since_body > heads.MAX_BYTES:
            self._refuse(f"The request has more than {heads.MAX_BYTES} successive bytes outside its body.")
        elif not self._in_body and not self.reserves_head(self._since_body):
            self._refuse(heads.TOO_MUCH)
        elif self._between_requests and not self._in_body:
            self.head_incomplete()

    # httptools' parser calls the `on_` methods. If one raises HeadRefused, `feed_data` raises an HttpParserError, whose
    # context is the HeadRefused.

    def on_message_begin(self) -> None:
        self._in_body = False
        self._head_begun = True
        self.begin_message()

    def begin_message(self) -> None:
        """Makes the lists and the ASGI scope that the head of a request fills."""
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_body:
            return  # discards a trailer, which is a header after the body
        self.headers.append((name.lower(), value))
        if len(self.headers) > heads.MAX_HEADERS:
            raise HeadRefused(heads.TOO_LARGE)

    def on_headers_complete(self) -> None:
        if self.transport.is_closing():
            self._stopped = True  # the response to an earlier request of the same segment has closed the connection
            return
        size = heads.size(self.url, self.headers)
        if size > heads.MAX_BYTES:
            raise HeadRefused(heads.TOO_LARGE)
        method, version = self._method, self._version = self.parser.get_method(), self.parser.get_http_version()
        fields = heads.check(method, self.url, version, self.headers)
        if len(self.pipeline) >= MAX_PIPELINED:
            raise HeadRefused(f"More than {MAX_PIPELINED} request waits for the response to an earlier request.")
        if not self.reserves_head(size):
            raise HeadRefused(heads.TOO_MUCH)
        self._complete += size - len(self.headers)  # the space after a header's colon is optional
        self._earlier = self.cycle
        self._in_body = True
        if self.parser.should_upgrade():
            self._body_left = int(fields.get(b"content-length", 0))
            self._upgrading = True
        expects = b"expect" in fields and version == "1.1"  # HTTP/1.0 has no `100 Continue` (RFC 9110, 10.1.1)
        self.expect_100_continue = expects and b"100-continue" in fields[b"expect"].lower()
        self.begin_request(fields)

    def begin_request(self, fields: Mapping[bytes, bytes]) -> None:
        """Makes the cycle of a request whose head is complete. Starts the ASGI application, or queues the request.

        A request is queued if an earlier request of the connection waits for its response (pipelining).
        """
        super().on_headers_complete()
        self.head_complete(last=self._upgrading)

    def on_body(self, body: bytes) -> None:
        self._since_body = 0
        self._complete += len(body)
        if not self.cycle.response_started:  # afterwards, the application only waits for the end of the body
            super().on_body(body)

    def on_message_complete(self) -> None:
        if not self._upgrading:  # llhttp reports a request for an upgrade as complete after its head
            self._body_complete()

    def _body_complete(self) -> None:
        self._since_body = 0
        super().on_message_complete()
        if not self._upgrading and not self.parser.should_keep_alive():
            # llhttp parses no further request after `Connection: close`, and sometimes none after trailers.
            close_after(self.cycle)
        if self.cycle.response_complete:
            end_body(self.cycle)
            if not self.cycle.keep_alive:
                self.transport.close()
            self.reset_deadline()

    def _read_body(self, data: bytes) -> None:
        """Passes the body of a request that asks for an upgrade to the application, and ignores all later bytes."""
        body = data[: self._body_left]
        self._body_left -= len(body)
        if body:
            self.on_body(body)
        if self._body_left == 0:
            self._stopped = True
            self._body_complete()

    def _refuse(self, reason: str) -> None:
        """Answers 400 and closes the connection.

        If a complete request waits for its response, sends that response instead of the 400. A request whose response
        has begun gets no second one.
        """
        self._stopped = True
        cycle, earlier = self.cycle, self._earlier
        if self.busy() and not cycle.more_body:
            close_after(cycle)
        elif earlier is not None and not earlier.response_complete:
            self.pipeline.clear()  # the newest request, whose body is malformed
            self.cycle = earlier
            close_after(earlier)
        elif cycle is not None and cycle.more_body and cycle.response_started:
            self.transport.close()
        else:
            self._limits.count_refusal(reason)
            self.send_400_response(reason)
            self.abandon_request()
        self.reset_deadline()
