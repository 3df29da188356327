"""A synchronous handler that Litestar runs on the event loop hashes a password.

After Mr-DooSun/fastapi-agent-blueprint#322 (sync bcrypt stalls the event loop on every login).
"""

import hashlib
import hmac
from typing import Any

from litestar import Litestar, post

CASE = {
    "framework": "litestar",
    "kind": "computes",
    "route": "POST /login",
    "cures": ["thread", "process"],
    "send": [("POST", "/login", 3, 3, "secret")],
    "source": "https://github.com/Mr-DooSun/fastapi-agent-blueprint/issues/322",
}
SALT = b"3f9c2a"


def hashed(password: str) -> bytes:
    return hashlib.pbkdf2_hmac("sha256", password.encode(), SALT, 1_800_000)  # FAULT


@post("/login", sync_to_thread=False)
def login(data: Any) -> dict[str, bool]:
    return {"known": hmac.compare_digest(hashed(str(data)), b"stored")}


app = Litestar([login])
