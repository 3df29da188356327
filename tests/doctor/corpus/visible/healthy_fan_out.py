"""150 requests, 50 at once, each with three awaited calls of one AsyncClient."""

import asyncio
import os
from contextlib import asynccontextmanager

import httpx
from fastapi import FastAPI, Request

CASE = {
    "framework": "fastapi",
    "kind": None,
    "route": None,
    "cures": [],
    "send": [("GET", "/fan", 150, 50)],
    "source": "",
}


@asynccontextmanager
async def lifespan(app):
    async with httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=100)) as client:
        yield {"client": client}


app = FastAPI(lifespan=lifespan)


@app.get("/fan")
async def fan(request: Request):
    client, address = request.state.client, os.environ["CASE_HTTP"] + "/slow/0.05"
    answers = await asyncio.gather(*(client.get(address) for _ in range(3)))
    return [answer.status_code for answer in answers]
