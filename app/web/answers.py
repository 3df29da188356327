"""The bodies of the responses with status 200."""

from http import HTTPStatus
from typing import Literal

from pydantic import BaseModel
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from app.settings import Release


class Answer(BaseModel):
    """The body of a 200 from a release that enqueues events.

    `queued`: SQS has acknowledged the message. `ignored`: the event's type is not in APP_EVENT_TYPES.
    """

    status: Literal["queued", "ignored"]
    event_id: str


class Processed(BaseModel):
    """The body of a 200 from the release that does the billing work itself. `processed`: the work is done."""

    status: Literal["processed", "ignored"]
    event_id: str


def answer_of(release: Release) -> type[BaseModel]:
    """Returns the model of the body that `release` sends with status 200."""
    return Answer if release.enqueues else Processed


class Plain(Response):
    """A 200 with the body of an Answer, for handlers that FastAPI does not call and that return a complete response."""

    def __init__(self, status: Literal["queued", "ignored"], event_id: str) -> None:
        # Event ids contain only letters, digits, `_` and `-`, so JSON needs no escape sequences.
        self.body = f'{{"status":"{status}","event_id":"{event_id}"}}'.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-length", b"%d" % len(self.body)), (b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": HTTPStatus.OK, "headers": headers})
        await send({"type": "http.response.body", "body": self.body})
