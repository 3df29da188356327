"""A dependency reads the session and the endpoint reads the rules, each with a blocking client, below a middleware.

After edly-io/sparkth#386 (sync get_session used inside async request handlers).
"""

import os
import urllib.request
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Annotated, Any

from fastapi import Depends, FastAPI

CASE = {
    "framework": "fastapi",
    "kind": "waits",
    "route": "GET /documents/{document}",
    "cures": ["async client", "thread"],
    "send": [("GET", "/documents/3", 4, 1)],
    "source": "https://github.com/edly-io/sparkth/issues/386",
}
Message = MutableMapping[str, Any]
App = Callable[[Message, Any, Callable[[Message], Awaitable[None]]], Awaitable[None]]


class CountBytes:
    """A middleware that counts the bytes of the answers."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.total = 0

    async def __call__(self, scope: Message, receive: Any, send: Callable[[Message], Awaitable[None]]) -> None:
        async def counted(message: Message) -> None:
            self.total += len(message.get("body", b""))
            await send(message)

        await self.app(scope, receive, counted)


async def session() -> str:
    with urllib.request.urlopen(os.environ["CASE_HTTP"] + "/slow/0.4", timeout=60) as answer:  # FAULT
        return str(answer.status)


api = FastAPI()


@api.get("/documents/{document}")
async def document(document: int, known: Annotated[str, Depends(session)]) -> dict[str, object]:
    with urllib.request.urlopen(os.environ["CASE_HTTP"] + "/slow/0.35", timeout=60) as rules:  # FAULT
        return {"document": document, "session": known, "rules": rules.status}


app = CountBytes(api)
