"""Makes the 503s of an overloaded process cheap: each costs little more than parsing the request (load shedding).

A rejection takes CPU time from accepted webhooks, and an overloaded process rejects more webhooks than it accepts.
Therefore, the process reuses the response objects and logs only the number of rejections. It keeps connections open,
because a new connection would cost more than a response.
"""

import asyncio
from time import perf_counter

from loguru import logger

from app.errors import Overloaded
from app.telemetry.record import ObserveWebhook, WebhookRecord
from app.web.problems import REFUSALS, ProblemResponse

LOG_SECONDS = 1.0
_OVERLOADED = REFUSALS[Overloaded]


class Shedding:
    """Creates and counts the 503s of an overloaded process. `observe` receives the record of each rejected webhook."""

    def __init__(self, observe: ObserveWebhook) -> None:
        self._observe = observe
        self._responses: dict[str, ProblemResponse] = {}
        self._not_logged = 0

    def shed(self, reason: str, began: float) -> ProblemResponse:
        """Returns a 503 with `reason`, and counts the webhook. `began`: when the request began (perf_counter)."""
        self._observe(WebhookRecord(began, _OVERLOADED.slug, _OVERLOADED.status, answered=perf_counter()))
        if self._not_logged == 0:
            asyncio.get_running_loop().call_later(LOG_SECONDS, self._log)
        self._not_logged += 1
        if reason not in self._responses:
            # Without `linger`, the connection stays open, and the server discards the rest of the body.
            self._responses[reason] = ProblemResponse(_OVERLOADED.status, reason, _OVERLOADED.headers, unread=True)
        return self._responses[reason]

    def _log(self) -> None:
        fields = {"outcome": _OVERLOADED.slug, "status": _OVERLOADED.status, "number": self._not_logged}
        logger.bind(**fields).warning("{} webhooks rejected because of overload", self._not_logged)
        self._not_logged = 0
