"""Handles POST /webhooks/chargebee in five steps: overload, authentication, admission, body, handler."""

import asyncio

from loguru import logger
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.errors import WebhookRefused
from app.telemetry.trace import current
from app.web.gate.body import Body
from app.web.gate.gate import Fields, Gate, refuse
from app.web.problems import unexpected
from app.web.server import heads

PATH = "/webhooks/chargebee"


class WebhookEndpoint:
    """Passes a webhook to `handler` if `gate` accepts it, and answers it if not. Passes other requests to `app`.

    `app` serves the probes, which need neither credentials nor admission, and answers 404 and 405.
    """

    def __init__(self, app: ASGIApp, handler: ASGIApp, gate: Gate) -> None:
        self._app = app
        self._handler = handler
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != PATH or scope["method"] != "POST":
            await self._app(scope, receive, send)
        elif (response := self._gate.shed(fields := heads.fields(scope["headers"]))) is not None:
            await response(scope, receive, send)
        else:
            await self._receive(scope, receive, send, fields)

    async def _receive(self, scope: Scope, receive: Receive, send: Send, fields: Fields) -> None:
        gate = self._gate
        record = scope["state"]["record"] = gate.begin(fields)
        # This task, and the threads that it awaits, read the trace from `current`. A webhook without a trace sets None,
        # because the task of a pipelined request inherits the context of an earlier request.
        current.set(record.trace)
        responding = False

        async def respond(message: Message) -> None:
            nonlocal responding
            responding = True
            await send(message)

        try:
            await self._admitted(scope, receive, respond, fields)
        except WebhookRefused as error:
            # `_admitted` has released the permit, so a client that reads this response slowly occupies no permit.
            await refuse(error, record)(scope, receive, send)
        except ClientDisconnect:
            pass  # the client has disconnected and reads no response
        except asyncio.CancelledError:
            if (response := gate.stopped(record)) is None:
                raise
            await response(scope, receive, send)
        except Exception:
            logger.exception("Exception in the webhook's handler")
            if not responding:
                await unexpected()(scope, receive, send)
        finally:
            gate.end(record)

    async def _admitted(self, scope: Scope, receive: Receive, send: Send, fields: Fields) -> None:
        gate = self._gate
        gate.authenticate(fields)
        permit = gate.admit(fields)
        try:
            await self._handler(scope, Body(receive, permit, gate.limits).receive, send)
        finally:
            permit.release()
