"""Requests fill a cache with small objects, and the collector walks a large heap again and again.

After sgl-project/sglang#9241 (Support GC Freezing to improve latency & throughput).
"""

import asyncio
import gc

from fastapi import FastAPI

CASE = {
    "framework": "fastapi",
    "kind": "collects",
    "route": "POST /cache/{size}",
    "cures": ["garbage", "less"],
    "send": [("POST", "/cache/900000", 2, 1)],
    "source": "https://github.com/sgl-project/sglang/pull/9241",
}
gc.disable()
vocabulary = [[number] for number in range(2_500_000)]
gc.enable()
cache: list[list[list[int]]] = []
app = FastAPI()


@app.post("/cache/{size}")
async def fill(size: int) -> dict[str, int]:
    for start in range(0, size, 2_000):
        cache.append([[number] for number in range(start, start + 2_000)])  # FAULT
        await asyncio.sleep(0)
    return {"chunks": len(cache)}
