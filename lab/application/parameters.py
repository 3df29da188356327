"""Query parameters of several experiments. FastAPI answers 422 if a value is out of bounds."""

from typing import Annotated

from fastapi import Query

MOST_MS = 10_000

Milliseconds = Annotated[int, Query(ge=0, le=MOST_MS)]
