"""uvicorn's httptools protocol with a bound on the head of a request.

h11 stops at 64 KiB of headers, httptools nowhere; and until the head is complete, neither credentials nor
admission have been asked.
"""

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_HEAD_BYTES = 64 * 1024


class BoundedHttpToolsProtocol(HttpToolsProtocol):
    """Answers 400 and closes when a request's line and headers are longer than MAX_HEAD_BYTES."""

    _head_bytes = 0
    _in_body = False

    def data_received(self, data: bytes) -> None:
        self._head_bytes += len(data)
        super().data_received(data)
        if self._in_body:
            self._head_bytes = 0
        elif self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("Request head too large.")

    def on_headers_complete(self) -> None:
        self._in_body = True
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_body = False
        # Of this piece, only what comes after the body could be the next head: too little to matter.
        self._head_bytes = 0
        super().on_message_complete()
