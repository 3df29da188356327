"""A middleware of Starlette's BaseHTTPMiddleware sleeps."""

import time

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route

CASE = {
    "framework": "starlette",
    "kind": "waits",
    "route": "GET /items/{key}",
    "cures": ["async client", "thread"],
    "send": [("GET", "/items/7", 3, 1)],
    "source": "",
}


class Audit(BaseHTTPMiddleware):
    async def dispatch(self, request, call_next):
        answer = await call_next(request)
        time.sleep(0.35)  # FAULT
        return answer


async def item(request):
    return PlainTextResponse("ok")


app = Starlette(routes=[Route("/items/{key}", item)], middleware=[Middleware(Audit)])
