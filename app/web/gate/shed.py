"""Load shedding: an overloaded process answers 503, for little more than the cost of parsing the request.

A rejection takes CPU time from accepted webhooks, and an overloaded process rejects more webhooks than it accepts. So
the process reuses each response, keeps the connection open because a new one costs more than the response, and logs
only the number of rejections.
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
    """Makes and counts the responses. `observe` receives the record of each rejected webhook."""

    def __init__(self, observe: ObserveWebhook) -> None:
        self._observe = observe
        self._responses: dict[str, ProblemResponse] = {}
        self._not_logged = 0

    def shed(self, reason: str, began: float) -> ProblemResponse:
        """Returns the response to a webhook that began at `began` of `time.perf_counter`, and counts it."""
        self._observe(WebhookRecord(began, _OVERLOADED.slug, _OVERLOADED.status, answered=perf_counter()))
        if self._not_logged == 0:
            asyncio.get_running_loop().call_later(LOG_SECONDS, self._log)
        self._not_logged += 1
        if reason not in self._responses:
            # Without `linger`, the connection stays open, and the server discards the rest of the body.
            self._responses[reason] = ProblemResponse(_OVERLOADED.status, reason, _OVERLOADED.headers)
        return self._responses[reason]

    def _log(self) -> None:
        fields = {"outcome": _OVERLOADED.slug, "status": _OVERLOADED.status, "number": self._not_logged}
        logger.bind(**fields).warning("{} webhooks overloaded", self._not_logged)
        self._not_logged = 0
