"""A handler races two slow services, cancels the loser, retries with asyncio.sleep, and keeps statistics in a thread."""

import asyncio
import os

import httpx
from fastapi import FastAPI

CASE = {
    "framework": "fastapi",
    "kind": None,
    "route": None,
    "cures": [],
    "send": [("GET", "/quotes", 8, 4)],
    "source": "",
}
app = FastAPI()
client = httpx.AsyncClient(timeout=60, verify=False)  # noqa: S501  # plain HTTP on loopback
statistics: list[str] = []


async def quote(seconds: float) -> str:
    answer = await client.get(f"{os.environ['CASE_HTTP']}/slow/{seconds}")
    return f"{seconds}: {answer.status_code}"


async def fastest() -> str:
    tasks = [asyncio.create_task(quote(seconds)) for seconds in (0.3, 1.5)]
    done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)
    return done.pop().result()


@app.get("/quotes")
async def quotes() -> dict[str, str]:
    try:
        await asyncio.wait_for(quote(1), 0.2)
    except TimeoutError:
        await asyncio.sleep(0.1)
    found = await fastest()
    await asyncio.to_thread(statistics.append, found)
    return {"quote": found}
