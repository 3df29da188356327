"""FastAPI validates and serialises a large list for its response_model on the event loop.

After fastapi/fastapi#1224 (jsonable_encoder is not async, can stall the event loop).
"""

import datetime

from fastapi import FastAPI
from pydantic import BaseModel

CASE = {
    "framework": "fastapi",
    "kind": "computes",
    "route": "GET /tenants/{tenant}/readings",
    "cures": ["less"],
    "send": [("GET", "/tenants/x/readings", 2, 1)],
    "source": "https://github.com/fastapi/fastapi/issues/1224",
}
app = FastAPI()


class Sensor(BaseModel):
    name: str
    unit: str
    tags: list[str]


class Reading(BaseModel):
    at: datetime.datetime
    value: float
    sensor: Sensor


ROWS = [
    {
        "at": f"2024-05-01T10:{number % 60:02}:00Z",
        "value": number / 7,
        "sensor": {"name": f"s{number}", "unit": "K", "tags": ["roof", "north"]},
    }
    for number in range(120_000)
]


@app.get("/tenants/{tenant}/readings", response_model=list[Reading])
async def readings(tenant: str):  # FAULT
    return ROWS  # FAULT
