"""Answers that are lost on their way: a gateway's answer in place of the API's, and half an answer."""

from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send


def gateway_timeout() -> Response:
    """Returns a gateway's 504, which is not JSON; the SDK finds the status in the text."""
    return PlainTextResponse("<html><head><title>504 Gateway Time-out</title></head></html>\n", 504)


class CutOff(Response):
    """Sends half of the body; then the server closes the connection, because the body is shorter than announced."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        body = bytes(self.body)
        await send({"type": "http.response.body", "body": body[: len(body) // 2], "more_body": True})
