"""Question: memory grows with the load and never falls. Is it a leak?

Setup: four endpoints use memory in different ways. `/threads` builds a list of strings in one of forty threads,
waits, drops the list and keeps a short text of each request in a cache of fixed size; `/cycles` drops objects that
refer to each other; `/leak` keeps lists of strings in a module's list; `/bounded` keeps them in a cache of fixed size.
`/collect` runs the garbage collector, `/trim` returns free memory to the system.

Asked: fastapi#596, #1624 and #4649, uvicorn#1993, botocore#2047.

What to expect: three causes look alike in a graph. First, glibc keeps freed memory in arenas, up to eight for each
core; malloc_trim() returns a part of this memory to the system, and MALLOC_ARENA_MAX limits the number of arenas.
Second, Python keeps reference cycles until it collects garbage. Third, the application leaks. Only a leak grows with
every request.
"""

import ctypes
import gc
import time
from collections import deque
from typing import Any

from fastapi import FastAPI

app = FastAPI()
CHARACTERS = 300
kept: list[list[str]] = []
cache: deque[list[str]] = deque(maxlen=20)
texts: deque[str] = deque(maxlen=400)


def lines(number: int) -> list[str]:
    """Returns `number` strings; 1,000 strings take about a megabyte.

    All strings but the first ten are too large for Python's own allocator, so their memory comes from malloc.
    """
    return [str(line) * CHARACTERS for line in range(number)]


@app.get("/threads")
def threads() -> int:
    whole = lines(1000)
    time.sleep(0.02)
    texts.append(str(id(whole)) * 50)
    return len("".join(whole))


@app.get("/cycles")
async def cycles() -> int:
    cycle: list[Any] = [lines(400)]
    cycle.append(cycle)
    return len(cycle)


@app.get("/leak")
async def leak() -> int:
    kept.append(lines(200))
    return len(kept)


@app.get("/bounded")
async def bounded() -> int:
    cache.append(lines(200))
    return len(cache)


@app.get("/collect")
async def collect() -> int:
    return gc.collect()


@app.get("/trim")
async def trim() -> int:
    """Gives free memory back to the kernel by glibc's malloc_trim. Returns 1 if any was given back, otherwise 0."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return int(trim(0)) if trim else 0
