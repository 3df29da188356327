"""What becomes of a message, by what its processing returned or raised: the worker's side of `app.errors`."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from loguru import logger

from app.errors import InvalidEvent, Postponed, Unprocessable
from app.events import Event, UnwantedEvent, parse_event
from app.worker.received import Received

Process = Callable[[Event], Awaitable[str]]
"""Does the work of an event; returns its outcome, raises BillingFailed. May be cancelled, and called again."""

NOT_AN_EVENT = "not_an_event"
IGNORED = "ignored"


class Done(NamedTuple):
    """It is deleted."""

    outcome: str


class Retry(NamedTuple):
    """It becomes visible again, later."""

    code: str
    detail: str
    retry_after: float | None = None


class Poison(NamedTuple):
    """It goes to the dead-letter queue."""

    code: str
    detail: str


Verdict = Done | Retry | Poison


def event_of(received: Received, wanted: frozenset[str]) -> Event | UnwantedEvent:
    """Raises InvalidEvent. `wanted`: APP_EVENT_TYPES, as for the webhook."""
    # A lone surrogate, which no JSON in UTF-8 has, is an error of the parser, too.
    return parse_event(received.body.encode(errors="surrogatepass"), wanted)


def poison(error: InvalidEvent) -> Poison:
    """For a body that is not an event. Names where it is wrong, never a value of it."""
    flaws = "; ".join(f"{'.'.join(map(str, flaw['loc'])) or 'body'}: {flaw['msg']}" for flaw in error.flaws[:3])
    return Poison(NOT_AN_EVENT, f"{error.detail}: {flaws}")


async def verdict_of(event: Event | UnwantedEvent, process: Process) -> Verdict:
    """Processes `event`. An unexpected exception is logged with its traceback: it may be a bug that is repaired."""
    if isinstance(event, UnwantedEvent):  # a type that nobody wants, with a content that is not validated
        return Done(IGNORED)
    try:
        return Done(await process(event))
    except Unprocessable as error:
        return Poison(error.code, error.detail)
    except Postponed as error:
        return Retry(error.code, error.detail, error.retry_after)
    except Exception as error:
        logger.opt(exception=True).bind(event_id=event.id).error("Unexpected: the message will be tried again")
        return Retry(type(error).__name__, "unexpected, see the traceback")
