"""Parses piece by piece what a client sends. A piece never extends beyond the end of a head or of a message.

`RequestParser` works around three properties of httptools 0.9 (llhttp 9). httptools does not limit the size of heads
and of trailers (headers after the body), adds trailers to the headers, and parses the body of a request for an upgrade
as another request (https://github.com/Kludex/uvicorn/issues/2722). `RequestParser` limits the stored bytes, discards
trailers, and does not parse the body of a request for an upgrade.
"""

import httptools

from app.server import heads
from app.server.heads import HeadRefused

_INVALID = "Invalid HTTP request received."
_BLANK_LINE = b"\r\n\r\n"
_LINE_ENDS = {"1.0": b"HTTP/1.0\r\n", "1.1": b"HTTP/1.1\r\n"}
_TOO_LONG = f"The request has more than {heads.MAX_BYTES} successive bytes outside its body."
UNKNOWN = -1  # the value of `left` for a chunked body that is incomplete


class RequestParser:
    """Parses one request after another. `complete`: the head of the current request is complete, and correct.

    `fields`: header values by lower-case name. `size`: bytes of the head so far. `left`: bytes of the body that have
    not arrived, or UNKNOWN. `last`: the current request is the connection's last one. `body`: the parts of the body
    that the connection has not passed on yet.
    """

    def __init__(self) -> None:
        self._parser = httptools.HttpRequestParser(self)
        self.begin()

    def close(self) -> None:
        """Breaks the reference cycle with httptools' parser. Nothing can be parsed afterwards."""
        del self._parser

    def begin(self) -> None:
        """Forgets the previous request, so that an idle connection does not keep a large head in memory."""
        self.complete = self.last = False
        self.method = self.version = ""
        self.target = b""
        self.headers: list[tuple[bytes, bytes]] = []
        self.fields: dict[bytes, bytes] = {}
        self.left = self.size = 0
        self.body: list[bytes] = []
        self._line = b""
        self._parsed: tuple[bytes, str] | None = None  # method and version, or None until the head is complete
        self._upgrade = False
        self._outside = 0  # bytes since the last part of a chunked body: sizes of chunks, or trailers
        self._end = b""  # the last bytes of the previous piece, which may begin a blank line

    def skip_empty_lines(self, data: bytes) -> bytes:
        """Returns `data` without the empty lines that may precede a request (RFC 9112, 2.2).

        Counts these lines as bytes of the head. Raises HeadRefused if the head is then too large.
        """
        rest = data.lstrip(b"\r\n")
        self.size += len(data) - len(rest)
        if self.size > heads.MAX_BYTES:
            raise HeadRefused(_TOO_LONG)
        return rest

    def cut(self, data: bytes) -> int:
        """Returns the length of the next piece of `data`. `data` begins in a head or in a chunked body.

        A piece ends after a blank line, because heads and chunked bodies end with a blank line. Without a blank line,
        all of `data` is one piece. A blank line inside a chunk also ends a piece, which does no harm.
        """
        before, self._end = self._end, b""
        if before and (at := (before + data[:3]).find(_BLANK_LINE)) >= 0:
            return at + len(_BLANK_LINE) - len(before)
        if (at := data.find(_BLANK_LINE)) >= 0:
            return at + len(_BLANK_LINE)
        self._end = (before + data[-3:])[-3:]
        return len(data)

    def feed(self, piece: bytes) -> None:
        """Parses a piece. Raises HeadRefused if it is malformed, or if too many bytes are outside of the body."""
        before = len(self.body)
        try:
            if self._upgrade:
                self.on_body(piece)  # llhttp would parse this body as another request
            else:
                self._parser.feed_data(piece)
        except httptools.HttpParserUpgrade:
            pass  # the request is handled like any other, and is the connection's last one
        except httptools.HttpParserError as error:
            refused = error.__context__
            raise (refused if isinstance(refused, HeadRefused) else HeadRefused(_INVALID)) from None
        if not self.complete:
            self._feed_head(piece)
        elif self.left == UNKNOWN:
            self._outside = 0 if len(self.body) > before else self._outside + len(piece)
            if self._outside > heads.MAX_BYTES:
                raise HeadRefused(_TOO_LONG)

    def _feed_head(self, piece: bytes) -> None:
        """Counts the head's bytes, and checks a complete head. Raises HeadRefused if it is too large or invalid."""
        self.size += len(piece)
        if self.size > heads.MAX_BYTES:
            raise HeadRefused(_TOO_LONG if self._parsed is None else heads.TOO_LARGE)
        line = self._line
        if b"\n" not in line:
            line += piece
        if self._parsed is None:
            self._line = line
            return
        method, version = self._parsed
        fields = self.fields = heads.check(method, self.target, version, self.headers)
        if not line.startswith(b" ".join((method, self.target, _LINE_ENDS[version]))):
            raise HeadRefused(_INVALID)
        self.left = UNKNOWN if b"transfer-encoding" in fields else int(fields.get(b"content-length", 0))
        self.last = self.last or self._upgrade or version == "1.0"
        self.method, self.version, self.complete = method.decode(), version, True

    # httptools calls these methods. If one of them raises an exception, httptools raises an HttpParserError with that
    # exception as `__context__`.

    def on_url(self, url: bytes) -> None:
        self.target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._parsed is not None:
            return  # discards a trailer
        self.headers.append((name.lower(), value))
        if len(self.headers) > heads.MAX_HEADERS:
            raise HeadRefused(heads.TOO_LARGE)

    def on_headers_complete(self) -> None:
        if self._parsed is not None:
            raise HeadRefused(_INVALID)  # llhttp has found the end of a message where `cut` finds none
        parser = self._parser
        self._parsed = parser.get_method(), parser.get_http_version()
        self._upgrade = parser.should_upgrade()
        self.last = not parser.should_keep_alive()

    def on_body(self, part: bytes) -> None:
        if not self.complete:
            raise HeadRefused(_INVALID)  # llhttp has found the end of a head where `cut` finds none
        if self.left != UNKNOWN:
            self.left -= len(part)
        self.body.append(part)

    def on_message_complete(self) -> None:
        if self.left == UNKNOWN:
            self.left = 0
        self.last = self.last or not self._parser.should_keep_alive()  # asks again: a trailer may change the answer
