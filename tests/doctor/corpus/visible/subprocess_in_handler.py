"""A handler of Litestar waits for a subprocess."""

import subprocess
import sys

from litestar import Litestar, get

CASE = {
    "framework": "litestar",
    "kind": "waits",
    "route": "GET /convert",
    "cures": ["async client", "thread"],
    "send": [("GET", "/convert", 3, 1)],
    "source": "",
}


@get("/convert")
async def convert() -> str:
    done = subprocess.run([sys.executable, "-Sc", "import time; time.sleep(0.4)"], check=True)  # FAULT
    return str(done.returncode)


app = Litestar([convert])
