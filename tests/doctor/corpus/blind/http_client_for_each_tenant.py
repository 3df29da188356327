"""A handler creates an httpx.AsyncClient, and with it a TLS context, for each tenant and each request.

After home-assistant/core#151103 (Blocking call to load_verify_locations in pytoyoda integration).
"""

import asyncio
import os

import httpx
from fastapi import FastAPI

CASE = {
    "framework": "fastapi",
    "kind": "builds",
    "route": "GET /vehicles",
    "cures": ["once"],
    "send": [("GET", "/vehicles", 2, 1)],
    "source": "https://github.com/home-assistant/core/issues/151103",
}
TENANTS = [f"tenant-{number}" for number in range(24)]
app = FastAPI()


async def location(client: httpx.AsyncClient) -> bool:
    async with client:
        response = await client.get("/items/1")
        return response.is_success


@app.get("/vehicles")
async def vehicles() -> dict[str, int]:
    base = os.environ["CASE_HTTP"]
    clients = [httpx.AsyncClient(base_url=base, headers={"x-tenant": tenant}) for tenant in TENANTS]  # FAULT
    found = await asyncio.gather(*(location(client) for client in clients))
    return {"found": sum(found)}
