"""The lifespan waits for the database with time.sleep between its attempts.

After GACWR/OpenUBA#140 (time.sleep() inside async lifespan).
"""

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import AsyncIterator

from fastapi import FastAPI

CASE = {
    "framework": "fastapi",
    "kind": "startup",
    "route": "",
    "cures": ["before serving", "async client"],
    "send": [("GET", "/", 2, 1)],
    "source": "https://github.com/GACWR/OpenUBA/issues/140",
}
listener = socket.socket()
listener.bind(("127.0.0.1", 0))


def database_starts() -> None:
    time.sleep(1.3)
    listener.listen()


@contextlib.asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    threading.Thread(target=database_starts, daemon=True).start()
    for _attempt in range(20):
        try:
            _, writer = await asyncio.open_connection(*listener.getsockname())
        except OSError:
            time.sleep(0.7)  # FAULT
        else:
            writer.close()
            break
    yield


app = FastAPI(lifespan=lifespan)


@app.get("/")
async def index() -> dict[str, str]:
    return {"status": "ready"}
