"""The bodies of the responses with status 200."""

from typing import Literal, NamedTuple

from pydantic import BaseModel


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


def plain(status: Literal["queued", "ignored"], event_id: str) -> bytes:
    """Returns an Answer as JSON, for a handler that FastAPI does not call.

    Event ids contain only letters, digits, `_` and `-`, so JSON needs no escape sequences.
    """
    return f'{{"status":"{status}","event_id":"{event_id}"}}'.encode()


class Plain(NamedTuple):
    """A response with status 200. Its fields have the same names as in Starlette's Response."""

    status_code: int
    raw_headers: list[tuple[bytes, bytes]]
    body: bytes
