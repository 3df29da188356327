"""A handler sends many slow requests at once with one httpx.AsyncClient from the lifespan."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator

import httpx
from fastapi import FastAPI

CASE = {
    "framework": "fastapi",
    "kind": None,
    "route": None,
    "cures": [],
    "send": [("GET", "/rates", 8, 4)],
    "source": "",
}


@contextlib.asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with httpx.AsyncClient(base_url=os.environ.get("CASE_HTTP", "http://127.0.0.1:1"), timeout=60) as client:
        app.state.client = client
        yield


app = FastAPI(lifespan=lifespan)


async def rate(seconds: float) -> bool:
    response = await app.state.client.get(f"/slow/{seconds}")
    return bool(response.json()["ok"])


@app.get("/rates")
async def rates() -> dict[str, int]:
    found = await asyncio.gather(*(rate(0.3 + number / 50) for number in range(10)))
    return {"rates": sum(found)}
