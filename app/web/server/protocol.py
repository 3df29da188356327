"""uvicorn's httptools protocol, with bounds on what it reads before the application is asked.

Read in uvicorn 0.54 and httptools 0.9 (llhttp 9). Left to themselves they store heads and trailers without end
(https://github.com/Kludex/uvicorn/issues/157), add trailers to the headers, and go on parsing behind a request that
asks for an upgrade, so that its body is the next request (https://github.com/Kludex/uvicorn/issues/2722).
"""

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from app.web.server import heads
from app.web.server.cycle import abandon, close_after, end_body
from app.web.server.deadlines import Deadlines
from app.web.server.heads import HeadRefused

# Requests of a connection that may wait for the answer to an earlier one. Each takes some kilobytes, before credentials
# are seen, and senders of webhooks do not pipeline.
MAX_PIPELINED = 1


class BoundedHttpToolsProtocol(Deadlines, HttpToolsProtocol):
    """Answers 400 and closes where a head is too large or can be read in two ways; discards trailers.

    A request that asks for an upgrade is answered as if it did not, and is the connection's last one.
    """

    _in_body = False
    _head_bytes = _head_count = 0
    _since_body = 0  # bytes since the last piece of a body
    _upgrading = False
    _body_left = 0  # of a request that asks for an upgrade: llhttp leaves its body to the new protocol
    _deaf = False  # nothing more of this connection is parsed
    _earlier: RequestResponseCycle | None = None  # of the request before the newest

    def connection_lost(self, exc: Exception | None) -> None:
        if self._earlier is not None:
            abandon(self._earlier)  # uvicorn tells the newest alone
        super().connection_lost(exc)

    def rest_expected(self) -> bool:
        return self.cycle is not None and self.cycle.response_complete and self.cycle.more_body

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
            return  # a trailer
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
        if not self.cycle.response_started:  # else nobody reads it
            super().on_body(body)

    def on_message_complete(self) -> None:
        if not self._upgrading:  # else llhttp says so at the end of the head
            self._body_complete()

    def _body_complete(self) -> None:
        self._since_body = 0
        super().on_message_complete()
        if not self._upgrading and not self.parser.should_keep_alive():
            close_after(self.cycle)  # also by a trailer, behind which llhttp skips whatever comes
        if self.cycle.response_complete:
            end_body(self.cycle)
            if not self.cycle.keep_alive:
                self.transport.close()
            self.rearm()

    def _read_body(self, data: bytes) -> None:
        """Of a request that asks for an upgrade; behind its body nothing is read."""
        body = data[: self._body_left]
        self._body_left -= len(body)
        if body:
            self.on_body(body)
        if self._body_left == 0:
            self._deaf = True
            self._body_complete()

    def _refuse(self, reason: str) -> None:
        """400 and the connection's end; an answer that is under way comes first, and is the last."""
        self._deaf = True
        cycle = self.cycle
        if not self.busy() or (cycle.more_body and not cycle.response_started):
            self._waits.refused(reason)
            self.send_400_response(reason)
            self.give_up()
        elif cycle.more_body:
            self.transport.close()  # answered before its body was complete; and now that is broken
        else:
            close_after(cycle)
        self.rearm()
