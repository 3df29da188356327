"""A handler hashes a password with many rounds."""

import hashlib

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


async def login(request):
    digest = hashlib.pbkdf2_hmac("sha256", b"secret", b"salt", 800_000)  # FAULT
    return PlainTextResponse(digest.hex())


app = Starlette(routes=[Route("/login", login, methods=["POST"])])
