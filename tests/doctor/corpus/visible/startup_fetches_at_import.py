"""The module fetches its configuration while it is imported."""

import os
import urllib.request

from fastapi import FastAPI

CASE = {
    "framework": "fastapi",
    "kind": "startup",
    "route": "",
    "cures": ["before serving"],
    "send": [("GET", "/", 1, 1)],
    "source": "",
}

app = FastAPI()
with urllib.request.urlopen(os.environ["CASE_HTTP"] + "/slow/0.8") as answer:  # FAULT
    CONFIGURATION = answer.read()


@app.get("/")
async def index():
    return len(CONFIGURATION)
