"""Simulates answers that are lost on the way: the client gets a gateway's error instead, or only half an answer."""

from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send


def gateway_timeout() -> Response:
    """Returns a gateway's 504 response. The body is HTML, not JSON; Chargebee's SDK reads the status from the HTML."""
    return PlainTextResponse("<html><head><title>504 Gateway Time-out</title></head></html>\n", 504)


class CutOff(Response):
    """A response that sends only half of its body.

    The server then closes the connection, because Content-Length announced more bytes.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        body = bytes(self.body)
        await send({"type": "http.response.body", "body": body[: len(body) // 2], "more_body": True})
