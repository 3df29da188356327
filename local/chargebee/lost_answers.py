"""Answers that are lost on their way: what a gateway says in place of the API, and half an answer."""

from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send


def gateway_timeout() -> Response:
    """Not JSON: it is not from the API. The SDK finds the status in its text."""
    return PlainTextResponse("<html><head><title>504 Gateway Time-out</title></head></html>\n", 504)


class CutOff(Response):
    """Half of the body; then the server closes the connection, since less came than was announced."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        body = bytes(self.body)
        await send({"type": "http.response.body", "body": body[: len(body) // 2], "more_body": True})
