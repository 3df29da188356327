"""Sends moments to a viewer of the live page as server-sent events: first the stored moments, then each new moment.

A moment is the figures of all services at one time.
"""

from collections.abc import AsyncIterator

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import Response

from local.live.ring import Ring

RECONNECT_MS = 1000


def respond(request: Request, ring: Ring) -> Response:
    """Returns a response that streams the moments after the moment in the request's header `Last-Event-ID`.

    If the request has no such header, the stream begins with the oldest stored moment.
    """
    return EventSourceResponse(_events(ring, request.headers.get("last-event-id")))


async def _events(ring: Ring, last_event_id: str | None) -> AsyncIterator[ServerSentEvent]:
    number = ring.resume(last_event_id) if last_event_id else 0
    if number is None:
        # The browser still shows the page of an earlier process, which may have shown another release. The event
        # `restarted` makes the browser reload the page.
        yield ServerSentEvent(event="restarted", data="")
        return
    yield ServerSentEvent(comment="the live page's moments", retry=RECONNECT_MS)
    async for moment in ring.follow(number):
        yield ServerSentEvent(id=ring.identify(moment.number), data=moment.text)
