"""Query parameters that several experiments take; out of bounds, the answer is FastAPI's 422."""

from typing import Annotated

from fastapi import Query

MOST_MS = 10_000

Milliseconds = Annotated[int, Query(ge=0, le=MOST_MS)]
