"""A handler hashes a password with many rounds."""

import hashlib
import time

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

CASE = {
    "framework": "starlette",
    "kind": "computes",
    "route": "POST /login",
    "cures": ["thread", "process"],
    "send": [("POST", "/login", 3, 1)],
    "source": "",
}


def calibrated():
    """Returns how many rounds take 0.5 s on this processor."""
    began = time.thread_time()
    hashlib.pbkdf2_hmac("sha256", b"secret", b"salt", 50_000)
    return round(50_000 * 0.5 / (time.thread_time() - began))


rounds = calibrated()


async def login(request):
    digest = hashlib.pbkdf2_hmac("sha256", b"secret", b"salt", rounds)  # FAULT
    return PlainTextResponse(digest.hex())


app = Starlette(routes=[Route("/login", login, methods=["POST"])])
