"""uvicorn's httptools protocol, with limits on what it reads before the application is called.

Read in uvicorn 0.54 and httptools 0.9 (llhttp 9). By themselves they store heads and trailers without limit
(https://github.com/Kludex/uvicorn/issues/157), add trailers to the headers, and go on parsing after a request that
asks for an upgrade, so that its body becomes the next request (https://github.com/Kludex/uvicorn/issues/2722).
"""

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from app.web.server import heads
from app.web.server.cycle import abandon, close_after, end_body
from app.web.server.deadlines import Deadlines
from app.web.server.heads import HeadRefused

# Pipelined requests of a connection. Each takes some kilobytes before authentication, and webhook senders do not
# pipeline.
MAX_PIPELINED = 1


class BoundedHttpToolsProtocol(Deadlines, HttpToolsProtocol):
    """Answers 400 and closes where a head is too large or ambiguous; discards trailers.

    The upgrade of a request that asks for one is ignored, and the request is the connection's last one.
    """

    _in_body = False
    _head_bytes = _head_count = 0
    _since_body = 0  # bytes since the last piece of a body
    _upgrading = False
    _body_left = 0  # of a request that asks for an upgrade: llhttp leaves its body to the new protocol
    _deaf = False  # nothing more from this connection is parsed
    _earlier: RequestResponseCycle | None = None  # of the request before the newest

    def connection_lost(self, exc: Exception | None) -> None:
        if self._earlier is not None:
            abandon(self._earlier)  # uvicorn does that for the newest only
        super().connection_lost(exc)

    def rest_expected(self) -> bool:
        return self.cycle is not None and self.cycle.response_complete and self.cycle.more_body

    def answer_expected(self) -> bool:
        return bool(self.pipeline) or super().answer_expected()  # a request is complete where another one follows it

    def data_received(self, data: bytes) -> None:
        if self._deaf:
            return
        if not self._waits.read(len(data)):
            self._refuse(heads.TOO_MUCH)
            return
        self._heard = True
        if self._upgrading:
            self._read_body(data)
            return
        self._since_body += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._read_body(data[upgrade.args[0] :])
        except httptools.HttpParserError as error:
            ours = isinstance(error.__context__, HeadRefused)
            self._refuse(str(error.__context__) if ours else "Invalid HTTP request received.")
        else:
            if self._since_body > heads.MAX_BYTES:
                self._refuse(f"Over {heads.MAX_BYTES} bytes without a body.")
            elif not self._in_body and not self.holds_head(self._since_body):
                self._refuse(heads.TOO_MUCH)
            elif self._between:
                self.head_begun()

    # What the parser calls. It passes HeadRefused on as the context of an HttpParserError.

    def on_message_begin(self) -> None:
        self._in_body = False
        self._head_bytes = self._head_count = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._head_bytes += len(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_body:
            return  # of a trailer
        self._head_bytes += len(name) + len(value) + 4  # ": " and the line's end
        self._head_count += 1
        if self._head_bytes > heads.MAX_BYTES or self._head_count > heads.MAX_HEADERS:
            raise HeadRefused(heads.TOO_LARGE)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        heads.check(self.parser.get_method(), self.url, self.parser.get_http_version(), self.headers)
        if len(self.pipeline) >= MAX_PIPELINED:
            raise HeadRefused(f"More than {MAX_PIPELINED} requests wait for the answer to an earlier one.")
        if not self.holds_head(self._head_bytes):
            raise HeadRefused(heads.TOO_MUCH)
        self._earlier = self.cycle
        self._in_body = True
        if self.parser.should_upgrade():
            self._body_left = heads.length(self.headers)
            self._upgrading = True
        super().on_headers_complete()
        self.head_complete(last=self._upgrading)

    def on_body(self, body: bytes) -> None:
        self._since_body = 0
        if not self.cycle.response_started:  # else the application does not read it
            super().on_body(body)

    def on_message_complete(self) -> None:
        if not self._upgrading:  # else llhttp says so at the end of the head
            self._body_complete()

    def _body_complete(self) -> None:
        self._since_body = 0
        super().on_message_complete()
        if not self._upgrading and not self.parser.should_keep_alive():
            close_after(self.cycle)  # after some trailers too, llhttp skips whatever follows
        if self.cycle.response_complete:
            end_body(self.cycle)
            if not self.cycle.keep_alive:
                self.transport.close()
            self.rearm()

    def _read_body(self, data: bytes) -> None:
        """The body of a request that asks for an upgrade; nothing is read after it."""
        body = data[: self._body_left]
        self._body_left -= len(body)
        if body:
            self.on_body(body)
        if self._body_left == 0:
            self._deaf = True
            self._body_complete()

    def _refuse(self, reason: str) -> None:
        """Answers 400 and closes; a response that is under way is completed first, and is the last."""
        self._deaf = True
        cycle = self.cycle
        if not self.busy() or (cycle.more_body and not cycle.response_started):
            self._waits.refused(reason)
            self.send_400_response(reason)
            self.give_up()
        elif cycle.more_body:
            self.transport.close()  # answered before its body was complete, and the rest of it is malformed
        else:
            close_after(cycle)
        self.rearm()
