"""A handler waits for a lock of SQLite."""

import sqlite3
import tempfile
import threading
import time

from litestar import Litestar, get

CASE = {
    "framework": "litestar",
    "kind": "waits",
    "route": "GET /rows",
    "cures": ["async client", "thread"],
    "send": [("GET", "/rows", 2, 1)],
    "source": "",
}

FILE = tempfile.mkdtemp() + "/shop.sqlite"
with sqlite3.connect(FILE) as first:
    first.execute("create table rows (number integer)")
first.close()


def keep_locked():
    other = sqlite3.connect(FILE, isolation_level=None)
    other.execute("begin exclusive")
    time.sleep(0.6)
    other.execute("rollback")
    other.close()


@get("/rows")
async def rows() -> str:
    holder = threading.Thread(target=keep_locked)
    holder.start()
    time.sleep(0.01)
    connection = sqlite3.connect(FILE, timeout=10)
    connection.execute("insert into rows values (1)")  # FAULT
    connection.rollback()
    connection.close()
    holder.join()
    return "ok"


app = Litestar([rows])
