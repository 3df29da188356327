"""Slow synchronous work runs in threads: a def endpoint, a def dependency and a def background task."""

import time
from typing import Annotated

from fastapi import BackgroundTasks, Depends, FastAPI

CASE = {
    "framework": "fastapi",
    "kind": None,
    "route": None,
    "cures": [],
    "send": [("GET", "/pages/2", 24, 12), ("POST", "/mails", 8, 4)],
    "source": "",
}
app = FastAPI()


def session() -> str:
    time.sleep(0.2)
    return "session"


def deliver(address: str) -> None:
    time.sleep(0.5)


@app.get("/pages/{number}")
def page(number: int, opened: Annotated[str, Depends(session)]) -> dict[str, object]:
    time.sleep(0.3)
    return {"page": number, "session": opened}


@app.post("/mails", status_code=202)
async def mail(background: BackgroundTasks) -> dict[str, bool]:
    background.add_task(deliver, "a@example.com")
    return {"accepted": True}
