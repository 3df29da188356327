"""An insert with sqlite3 waits on the event loop until the export in a thread releases the database.

After open-webui/open-webui#11233 (synchronous sqlalchemy usage blocks the event-loop).
"""

import asyncio
import sqlite3
import tempfile
import threading
import time
from pathlib import Path

from litestar import Litestar, post

CASE = {
    "framework": "litestar",
    "kind": "waits",
    "route": "POST /orders",
    "cures": ["async client", "thread"],
    "send": [
        ("POST", "/exports", 1, 1),
        ("POST", "/orders", 1, 1),
        ("POST", "/exports", 1, 1),
        ("POST", "/orders", 1, 1),
        ("POST", "/exports", 1, 1),
        ("POST", "/orders", 1, 1),
    ],
    "source": "https://github.com/open-webui/open-webui/issues/11233",
}
DATABASE = Path(tempfile.mkdtemp()) / "orders.db"


def connect() -> sqlite3.Connection:
    connection = sqlite3.connect(DATABASE, timeout=20, check_same_thread=False)
    connection.execute("PRAGMA synchronous = OFF")
    return connection


def export(started: threading.Event) -> None:
    connection = connect()
    connection.execute("BEGIN IMMEDIATE")
    started.set()
    time.sleep(0.8)
    connection.commit()
    connection.close()


with connect() as schema:
    schema.execute("CREATE TABLE orders (item TEXT)")
orders = connect()


@post("/exports", status_code=202)
async def start_export() -> None:
    started = threading.Event()
    threading.Thread(target=export, args=(started,)).start()
    await asyncio.to_thread(started.wait)


@post("/orders")
async def create_order() -> dict[str, int | None]:
    cursor = orders.execute("INSERT INTO orders (item) VALUES ('chair')")  # FAULT
    orders.commit()
    return {"id": cursor.lastrowid}


app = Litestar([start_export, create_order])
