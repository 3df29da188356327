"""One log line for each webhook: event, outcome, duration. Never the payload."""

import asyncio
from time import perf_counter
from typing import Any

from loguru import logger
from starlette.types import ASGIApp, Receive, Scope, Send

from app.errors import Draining, WebhookRefused
from app.web.gate.admission import Admission


class Outcome:
    """Logs what became of a webhook: `queued`, `ignored`, or why it was refused.

    The handler leaves `event` and `answer` in the request's state, the error handler leaves `refused`.
    """

    def __init__(self, app: ASGIApp, admission: Admission) -> None:
        self._app = app
        self._admission = admission

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        state: dict[str, Any] = scope["state"]
        started = perf_counter()
        try:
            await self._app(scope, receive, send)
        except WebhookRefused as error:
            state["refused"] = error
            raise
        except asyncio.CancelledError:
            # uvicorn, when APP_GRACEFUL_TIMEOUT is over; whoever has no answer yet gets one.
            if not self._admission.draining or "answer" in state:
                raise
            state["refused"] = Draining("This process has stopped; send it again")
            raise state["refused"] from None
        finally:
            _log(state, milliseconds=round((state.get("answered", perf_counter()) - started) * 1000, 2))


def _log(state: dict[str, Any], milliseconds: float) -> None:
    event, answer, refused = state.get("event"), state.get("answer"), state.get("refused")
    fields: dict[str, Any] = {"duration_ms": milliseconds}
    if event is not None:
        fields |= {"event_id": event.id, "event_type": event.event_type, "retry": event.is_retry}
    if refused is not None:
        fields |= {"outcome": refused.slug, "status": refused.status}
        for name in ("cause", "delivery"):
            if (value := getattr(refused, name)) is not None:
                fields[name] = value
        level = "WARNING"
    else:
        # No answer and no refusal: the sender left, or a fault that has its own traceback in the log.
        fields["outcome"] = answer.status if answer is not None else "unanswered"
        level = "INFO" if answer is not None else "WARNING"
    logger.bind(**fields).log(level, "webhook {}", fields["outcome"])
