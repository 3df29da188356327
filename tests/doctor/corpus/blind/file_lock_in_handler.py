"""A handler waits with flock until the report writer, a thread, closes the file.

After tox-dev/filelock#78 (Request for Asyncio Support: it blocks other coroutines when acquiring locks).
"""

import fcntl
import tempfile
import time
from pathlib import Path

from litestar import Litestar, Response, get
from litestar.background_tasks import BackgroundTask

CASE = {
    "framework": "litestar",
    "kind": "waits",
    "route": "GET /reports/latest",
    "cures": ["thread", "async client"],
    "send": [("GET", "/reports/latest", 4, 1)],
    "source": "https://github.com/tox-dev/filelock/issues/78",
}
REPORT = Path(tempfile.mkdtemp()) / "report.txt"
REPORT.write_text("empty")


def rewrite() -> None:
    with REPORT.open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(f"written at {time.time()}")
        time.sleep(0.5)


def read_locked() -> str:
    with REPORT.open() as file:
        fcntl.flock(file, fcntl.LOCK_SH)  # FAULT
        return file.read()


@get("/reports/latest", media_type="text/plain")
async def latest() -> Response[str]:
    return Response(read_locked(), background=BackgroundTask(rewrite))


app = Litestar([latest])
