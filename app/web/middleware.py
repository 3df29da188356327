"""Calls the steps of `intake` before and after the release's handler, for releases under ASGI."""

import asyncio

from loguru import logger
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.errors import WebhookRefused
from app.server import heads
from app.telemetry.trace import current
from app.web.admission import Permit
from app.web.intake import Fields, Intake, refuse
from app.web.problems import unexpected

PATH = "/webhooks/chargebee"


class WebhookMiddleware:
    """Passes a webhook to `app` if `intake` admits the webhook, and otherwise sends the error response.

    Passes every request that is not a webhook to `app`. After `app` has received a webhook, `app` itself translates
    errors into responses, even the errors that `Body.receive` raises.
    """

    def __init__(self, app: ASGIApp, intake: Intake) -> None:
        self.app = app
        self.intake = intake

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != PATH or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        scope["headers"] = list(scope["headers"])  # a copy, because uvicorn appends trailers to its list
        if (response := self.intake.shed(fields := heads.fields(scope["headers"]))) is not None:
            await response(scope, receive, send)
        else:
            await self._record(scope, receive, send, fields)

    async def _record(self, scope: Scope, receive: Receive, send: Send, fields: Fields) -> None:
        intake = self.intake
        record = scope.setdefault("state", {})["record"] = intake.begin(fields)
        # This task, and the threads that it awaits, read the trace from `current`. Without a trace, `current` is set to
        # None, because the task of a pipelined request inherits the context of an earlier request.
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
            if (response := intake.stopped(record)) is None:
                raise
            await response(scope, receive, send)
        except Exception:
            logger.exception("Exception in the webhook's handler")
            if not responding:
                await unexpected()(scope, receive, send)
        finally:
            intake.end(record)

    async def _admit(self, scope: Scope, receive: Receive, send: Send, fields: Fields) -> None:
        intake = self.intake
        permit = intake.head(fields)

        async def respond(message: Message) -> None:
            permit.release()  # before `send`, so that a client that reads slowly does not keep the permit
            await send(message)

        try:
            await self.app(scope, Body(receive, permit, intake.limits.body_timeout).receive, respond)
        finally:
            permit.release()


class Body:
    """Receives the body of one webhook as ASGI messages, and enforces the limits on it.

    FastAPI's own limit, `max_body_size`, would answer in text/plain, and would do so before authentication.
    """

    def __init__(self, receive: Receive, permit: Permit, timeout: float) -> None:
        self._receive, self._permit = receive, permit
        self._deadline = asyncio.get_running_loop().time() + timeout
        self._unlimited = False  # becomes True when the body is complete or rejected

    async def receive(self) -> Message:
        """Returns the next ASGI message. Raises BodyTimeout, BodyTooLarge or Overloaded.

        After such an error, later calls receive the rest of the body without limits, and `ProblemResponse` discards it.
        """
        if self._unlimited:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
            more = message.get("more_body", False)
            if message["type"] == "http.request":
                self._permit.receive(len(message.get("body", b"")), more=more)
        except TimeoutError:
            self._unlimited = True
            raise self._permit.too_late() from None
        except WebhookRefused:
            self._unlimited = True
            raise
        self._unlimited = not more
        return message
