"""Question: memory grows with the load and never falls. Is it a leak?

Setup: four endpoints use some memory in their own way. `/threads` builds and drops a list of strings in one of forty
threads; `/cycles` drops objects that refer to each other; `/leak` keeps what it makes in a module's list; `/bounded`
keeps it in a cache of fixed size. `/collect` runs the garbage collector, `/trim` returns free memory to the system.

Asked: fastapi#596, #1624 and #4649, uvicorn#1993, botocore#2047.

What to expect: three things look alike in a graph. glibc keeps freed memory in an arena for each thread, and returns
it on malloc_trim, or with one arena (MALLOC_ARENA_MAX); Python keeps cycles until it collects; only a leak survives
both, and grows with every request.
"""

import ctypes
import gc
from collections import OrderedDict
from typing import Any

from fastapi import FastAPI

app = FastAPI()
LINES, CHARACTERS = 2000, 600
CACHED = 20
kept: list[list[str]] = []
cache: OrderedDict[int, list[str]] = OrderedDict()


def lines(number: int = LINES) -> list[str]:
    """Some megabyte of strings; each is too large for Python's own allocator, and so comes from malloc."""
    return [str(line) * CHARACTERS for line in range(number)]


@app.get("/threads")
def threads() -> int:
    return len("".join(lines()))


@app.get("/cycles")
async def cycles() -> int:
    cycle: list[Any] = [lines(200)]
    cycle.append(cycle)
    return len(cycle)


@app.get("/leak")
async def leak() -> int:
    kept.append(lines(100))
    return len(kept)


@app.get("/bounded")
async def bounded() -> int:
    cache[len(cache) + id(object())] = lines(100)
    if len(cache) > CACHED:
        cache.popitem(last=False)
    return len(cache)


@app.get("/collect")
async def collect() -> int:
    return gc.collect()


@app.get("/trim")
async def trim() -> int:
    """Of glibc alone; elsewhere 0."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return int(trim(0)) if trim else 0
