"""A handler computes for a long time in all, but gives the event loop its turn after each millisecond or two."""

import asyncio

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

CASE = {
    "framework": "starlette",
    "kind": None,
    "route": None,
    "cures": [],
    "send": [("GET", "/checksum", 4, 2), ("GET", "/checksum", 1, 1)],
    "source": "",
}
NUMBERS = list(range(5_000))


def slice_sum(start: int) -> int:
    return sum(number * number % 97 for number in NUMBERS[start : start + 2_500])


async def checksum(request: Request) -> JSONResponse:
    total = 0
    for turn in range(400):
        total += slice_sum(turn % 2 * 2_500)
        await asyncio.sleep(0)
    return JSONResponse({"checksum": total})


app = Starlette(routes=[Route("/checksum", checksum)])
