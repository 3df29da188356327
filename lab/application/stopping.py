"""503 for the requests that still wait when the lab stops: uvicorn cancels them, and would log a traceback for each."""

import asyncio
import os

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from app.errors import LabUnavailable
from lab.application.problems import unavailable


class AnswerAtStop:
    """Pure ASGI. Nothing else cancels a request's task: uvicorn lets it run where the client has gone."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        except asyncio.CancelledError:
            if scope["type"] != "http":
                raise
            error = LabUnavailable(f"this process of the lab ({os.getpid()}) is stopping")
            response = await unavailable(Request(scope), error)
            await response(scope, receive, send)
