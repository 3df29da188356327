"""A synchronous handler that Litestar runs on the event loop hashes a password.

After Mr-DooSun/fastapi-agent-blueprint#322 (sync bcrypt stalls the event loop on every login).
"""

import hashlib
import hmac
import time
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


def calibrated() -> int:
    """Returns how many rounds take 0.5 s on this processor."""
    began = time.thread_time()
    hashlib.pbkdf2_hmac("sha256", b"secret", SALT, 50_000)
    return round(50_000 * 0.5 / (time.thread_time() - began))


rounds = calibrated()


def hashed(password: str) -> bytes:
    return hashlib.pbkdf2_hmac("sha256", password.encode(), SALT, rounds)  # FAULT


@post("/login", sync_to_thread=False)
def login(data: Any) -> dict[str, bool]:
    return {"known": hmac.compare_digest(hashed(str(data)), b"stored")}


app = Litestar([login])
