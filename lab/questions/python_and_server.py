"""Question: which Python and which server need the least CPU?

Setup: `/nothing` answers at once; `/real` validates its query, makes a SELECT through an async pool of connections, and
returns twenty rows by a declared type. The servers are uvicorn with uvloop, uvicorn with asyncio, and granian, with one
process each, under each installed Python. The application imports nothing of the lab, so that it runs in any
environment that has its packages.

Asked: see the measurements of others in docs/questions/python_and_server.md.

What to expect: the server and the event loop need half of the CPU time of a request that does nothing, and a small part
of the CPU time of a real request.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool
from pydantic import BaseModel

SELECT = """
    SELECT number AS id, 'user ' || number AS name, now() AS seen
    FROM generate_series(%(first)s::int, %(first)s::int + 19) AS number"""


class User(BaseModel):
    id: int
    name: str
    seen: datetime


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[dict[str, Any]]:
    async with AsyncConnectionPool(os.environ["APP_LAB_DATABASE_URL"], open=False, max_size=10) as pool:
        yield {"pool": pool}


app = FastAPI(lifespan=lifespan)


@app.get("/nothing")
async def nothing() -> str:
    return "here"


@app.get("/real")
async def real(request: Request, first: Annotated[int, Query(ge=1, le=1_000_000)] = 1) -> list[User]:
    async with request.state.pool.connection() as connection, connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(SELECT, {"first": first})
        return [User.model_validate(row) for row in await cursor.fetchall()]
