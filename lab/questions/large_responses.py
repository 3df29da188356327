"""Question: why does a large response take so long, and why do all other requests become slow meanwhile?

Setup: the same rows, of some 150 bytes each, are returned in five ways: by a declared return type, as dicts without
a return type, as a JSONResponse, as bytes that orjson made, and as a stream of lines. `/thread/{rows}` has the declared
return type in a `def` handler. `/small` is the request of another client.

Asked: fastapi#360 and #1359, PR #2615, airflow#59082.

What to expect: FastAPI serialises every response on the event loop, even the response of a `def` handler. For `def`,
only the validation of the response runs in a thread. While FastAPI works on the event loop, no other request runs.
Without a return type, FastAPI first copies the whole structure in Python with `jsonable_encoder`, which is the slowest
way. `/stream` sends a hundred lines at a time, and lets other requests run after each hundred, by `asyncio.sleep(0)`.
Without this call, Starlette and uvicorn would let other requests run during a stream only if the client reads slowly.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any

import orjson
from fastapi import FastAPI, Path
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel

app = FastAPI()
LINES_OF_A_CHUNK = 100
Rows = Annotated[int, Path(ge=1, le=100_000)]


class Row(BaseModel):
    id: int
    name: str
    email: str
    tags: list[str]
    amounts: list[float]


def row(number: int) -> dict[str, Any]:
    return {
        "id": number,
        "name": f"user number {number}",
        "email": f"user.number.{number}@example.com",
        "tags": ["customer", "newsletter", "beta"],
        "amounts": [number / 7, number * 1.5, 0.25],
    }


made: dict[int, list[dict[str, Any]]] = {}


def table(number: int) -> list[dict[str, Any]]:
    """Returns `number` rows. They are created only once, so that mainly the response is measured."""
    if number not in made:
        made[number] = [row(index) for index in range(number)]
    return made[number]


@app.get("/declared/{rows}")
async def declared(rows: Rows) -> list[Row]:
    return table(rows)  # type: ignore[return-value]  # FastAPI validates it


@app.get("/undeclared/{rows}", response_model=None)
async def undeclared(rows: Rows) -> Any:
    return table(rows)


@app.get("/json_response/{rows}")
async def json_response(rows: Rows) -> JSONResponse:
    return JSONResponse(table(rows))


@app.get("/bytes/{rows}")
async def as_bytes(rows: Rows) -> Response:
    return Response(orjson.dumps(table(rows)), media_type="application/json")


@app.get("/stream/{rows}")
async def stream(rows: Rows) -> StreamingResponse:
    async def chunks() -> AsyncIterator[bytes]:
        whole = table(rows)
        for start in range(0, rows, LINES_OF_A_CHUNK):
            part = whole[start : start + LINES_OF_A_CHUNK]
            yield b"".join(orjson.dumps(one, option=orjson.OPT_APPEND_NEWLINE) for one in part)
            await asyncio.sleep(0)

    return StreamingResponse(chunks(), media_type="application/x-ndjson")


@app.get("/thread/{rows}")
def thread(rows: Rows) -> list[Row]:
    return table(rows)  # type: ignore[return-value]  # FastAPI validates it


@app.get("/small")
async def small() -> str:
    return "here"
