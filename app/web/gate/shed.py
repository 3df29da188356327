"""Load shedding: the 503 of an overloaded process, for little more than the cost of parsing the request.

A rejection takes CPU from accepted webhooks, and under overload there are more rejections than webhooks. So this one
comes before FastAPI, keeps its bytes, keeps the connection open (a new one costs more than the response), and logs a
count. Order and wording are those of the gate: authentication first, then admission.
"""

import asyncio
from time import perf_counter

from loguru import logger
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.errors import Overloaded
from app.settings import Settings
from app.telemetry.record import ObserveWebhook, WebhookRecord
from app.web.gate.admission import Admission
from app.web.gate.auth import accepted_pairs, authorized
from app.web.problems import REFUSALS, ProblemResponse
from app.web.webhook import PATH

LOG_SECONDS = 1.0
_OVERLOADED = REFUSALS[Overloaded]


class Shed:
    """Answers webhooks 503 while `admission` is full; passes everything else on."""

    def __init__(
        self, app: ASGIApp, admission: Admission, settings: Settings, observe: ObserveWebhook | None = None
    ) -> None:
        self._app = app
        self._admission = admission
        self._observe = observe
        self._pairs = accepted_pairs(settings)
        self._refused = 0
        self._answers: dict[str, tuple[Message, Message]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._admission.draining and (reason := self._admission.overload()) is not None and self._ours(scope):
            began = perf_counter()
            start, body = self._answer(reason)
            await send(start)
            await send(body)
            self._count(began)
        else:
            await self._app(scope, receive, send)

    def _ours(self, scope: Scope) -> bool:
        return (
            scope["type"] == "http"
            and scope["path"] == PATH
            and scope["method"] == "POST"
            and authorized(scope["headers"], self._pairs)
        )

    def _answer(self, reason: str) -> tuple[Message, Message]:
        if reason not in self._answers:
            # The connection stays open: the server discards the rest of the body.
            problem = ProblemResponse(_OVERLOADED.status, reason, _OVERLOADED.headers)
            start = {"type": "http.response.start", "status": problem.status_code, "headers": problem.raw_headers}
            self._answers[reason] = (start, {"type": "http.response.body", "body": bytes(problem.body)})
        return self._answers[reason]

    def _count(self, began: float) -> None:
        if self._observe is not None:
            self._observe(WebhookRecord(began, _OVERLOADED.slug, _OVERLOADED.status, answered=perf_counter()))
        if self._refused == 0:
            asyncio.get_running_loop().call_later(LOG_SECONDS, self._log)
        self._refused += 1

    def _log(self) -> None:
        fields = {"outcome": _OVERLOADED.slug, "status": _OVERLOADED.status, "number": self._refused}
        logger.bind(**fields).warning("{} webhooks overloaded", self._refused)
        self._refused = 0
