"""A regular expression with nested repetition keeps the interpreter lock."""

import re

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

CASE = {
    "framework": "starlette",
    "kind": "computes",
    "route": "GET /match",
    "cures": ["less", "process"],
    "send": [("GET", "/match", 2, 1)],
    "source": "",
}

PATTERN = re.compile(r"(a+)+$")


async def match(request):
    found = PATTERN.match("a" * 24 + "b")  # FAULT
    return PlainTextResponse(str(found))


app = Starlette(routes=[Route("/match", match)])
