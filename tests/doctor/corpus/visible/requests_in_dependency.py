"""An asynchronous dependency of a route with a parameter calls requests."""

import os

import requests
from fastapi import Depends, FastAPI

CASE = {
    "framework": "fastapi",
    "kind": "waits",
    "route": "GET /orders/{number}",
    "cures": ["async client", "thread"],
    "send": [("GET", "/orders/17", 4, 1)],
    "source": "",
}

app = FastAPI()


async def customer(number: int):
    return requests.get(os.environ["CASE_HTTP"] + "/slow/0.4", timeout=60).json()  # FAULT


@app.get("/orders/{number}")
async def order(number: int, found: dict = Depends(customer)):
    return {"number": number} | found
