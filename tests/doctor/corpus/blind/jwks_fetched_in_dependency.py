"""An authentication dependency refreshes the signing keys with urllib, which waits on the event loop.

After stytchauth/stytch-python#312 (M2M.authenticate_token() blocks event loop on JWKS fetch).
"""

import json
import os
import urllib.request
from typing import Annotated

from fastapi import Depends, FastAPI, Header, HTTPException

CASE = {
    "framework": "fastapi",
    "kind": "waits",
    "route": "GET /accounts/{account_id}",
    "cures": ["async client", "thread"],
    "send": [("GET", "/accounts/17", 4, 2)],
    "source": "https://github.com/stytchauth/stytch-python/issues/312",
}
app = FastAPI()


class SigningKeys:
    """The keys of the identity provider, which are fetched again for every unknown key id."""

    def __init__(self, url: str) -> None:
        self.url = url

    def find(self, key_id: str) -> str | None:
        with urllib.request.urlopen(self.url, timeout=30) as response:  # FAULT
            document = json.load(response)
        return key_id if document["ok"] else None


keys = SigningKeys(os.environ.get("CASE_HTTP", "http://127.0.0.1:1") + "/slow/0.4")


async def current_user(authorization: Annotated[str, Header()] = "Bearer key-1") -> str:
    key = keys.find(authorization.removeprefix("Bearer "))
    if key is None:
        raise HTTPException(401)
    return key


@app.get("/accounts/{account_id}")
async def account(account_id: int, user: Annotated[str, Depends(current_user)]) -> dict[str, object]:
    return {"id": account_id, "user": user}
