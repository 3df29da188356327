"""A lane for webhooks around FastAPI's middleware, telemetry and routing, which take a seventh of a lean one's CPU."""

from fastapi import FastAPI
from loguru import logger
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.web.problems import unexpected
from app.web.webhook import PATH


class Lane:
    """Passes webhooks to `gate` and everything else to `app`. Logs an unexpected exception, and answers 500."""

    def __init__(self, app: FastAPI, gate: ASGIApp) -> None:
        self._app = app
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != PATH or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        started = False

        async def noted(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        scope["app"] = self._app
        try:
            await self._gate(scope, receive, noted)
        except ClientDisconnect:
            pass  # nobody is there to read an answer
        except Exception:
            logger.exception("Exception in the webhook's handler")
            if not started:
                await unexpected()(scope, receive, send)
