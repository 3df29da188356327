"""A thousand small requests, 300 at once: the loop is busy, and no single callback is long."""

from contextlib import asynccontextmanager

import boto3
from fastapi import FastAPI

CASE = {
    "framework": "fastapi",
    "kind": None,
    "route": None,
    "cures": [],
    "send": [("GET", "/items/7", 1000, 300)],
    "source": "",
}


@asynccontextmanager
async def lifespan(app):
    client = boto3.client("sqs", "eu-west-1", aws_access_key_id="a", aws_secret_access_key="b")
    yield {"client": client}


app = FastAPI(lifespan=lifespan)


@app.get("/items/{key}")
async def item(key: int):
    return {"key": key, "squares": [number * number for number in range(100)]}
