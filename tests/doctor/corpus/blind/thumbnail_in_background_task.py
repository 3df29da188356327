"""An asynchronous background task scales an image down in Python, to several sizes, on the event loop.

After frankbria/auto-author#346 (PIL image processing blocks the async event loop).
"""

import time

from fastapi import BackgroundTasks, FastAPI

CASE = {
    "framework": "fastapi",
    "kind": "computes",
    "route": "POST /covers",
    "cures": ["process", "thread"],
    "send": [("POST", "/covers", 2, 1), ("GET", "/covers", 2, 1)],
    "source": "https://github.com/frankbria/auto-author/issues/346",
}
SIDE = 1536
FACTOR = 4
app = FastAPI()
covers: list[bytes] = []


async def scale(pixels: bytes) -> None:
    for _ in range(copies):
        covers.append(scaled(pixels))


def scaled(pixels: bytes) -> bytes:
    rows = []
    for y in range(0, SIDE, FACTOR):
        lines = [pixels[(y + dy) * SIDE : (y + dy + 1) * SIDE] for dy in range(FACTOR)]  # FAULT
        sums = (sum(sum(line[x : x + FACTOR]) for line in lines) for x in range(0, SIDE, FACTOR))  # FAULT
        rows.append(bytes(total // 16 for total in sums))  # FAULT
    return b"".join(rows)


def calibrated() -> int:
    """Returns how many sizes of an image take 0.5 s on this processor."""
    began = time.thread_time()
    scaled(bytes(SIDE * SIDE))
    return round(0.5 / (time.thread_time() - began)) + 1


copies = calibrated()


@app.post("/covers", status_code=202)
async def upload(background: BackgroundTasks) -> dict[str, int]:
    image = bytes(range(256)) * (SIDE * SIDE // 256)
    background.add_task(scale, image)
    return {"bytes": len(image)}


@app.get("/covers")
async def stored() -> dict[str, int]:
    return {"covers": len(covers)}
