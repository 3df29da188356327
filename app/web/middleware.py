"""Handles what all webhooks share: overload, authentication, admission, the bounds of the body, and the record."""

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


class WebhookMiddleware:
    """Passes a webhook to `app` if `gate` accepts it, and answers it if not. Passes all other requests to `app`.

    `app` answers the errors of a webhook that it handles, also those that its `receive` raises.
    """

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self.app = app
        self.gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != PATH or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        scope["headers"] = list(scope["headers"])  # uvicorn appends trailers to its own list
        if (response := self.gate.shed(fields := heads.fields(scope["headers"]))) is not None:
            await response(scope, receive, send)
        else:
            await self._record(scope, receive, send, fields)

    async def _record(self, scope: Scope, receive: Receive, send: Send, fields: Fields) -> None:
        gate = self.gate
        record = scope.setdefault("state", {})["record"] = gate.begin(fields)
        # This task, and the threads that it awaits, read the trace from `current`. A webhook without a trace sets None,
        # because the task of a pipelined request inherits the context of an earlier request.
        current.set(record.trace)
        responding = False

        async def respond(message: Message) -> None:
            nonlocal responding
            responding = True
            await send(message)

        try:
            await self._admit(scope, receive, respond, fields)
        except WebhookRefused as error:
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

    async def _admit(self, scope: Scope, receive: Receive, send: Send, fields: Fields) -> None:
        gate = self.gate
        gate.authenticate(fields)
        permit = gate.admit(fields)

        async def respond(message: Message) -> None:
            permit.release()  # a client that reads its response slowly occupies no permit
            await send(message)

        try:
            await self.app(scope, Body(receive, permit, gate.limits).receive, respond)
        finally:
            permit.release()
