"""FastAPI validates and serialises a large response after the handler."""

from fastapi import FastAPI
from pydantic import BaseModel

CASE = {
    "framework": "fastapi",
    "kind": "computes",
    "route": "GET /report",
    "cures": ["less", "process"],
    "send": [("GET", "/report", 3, 1)],
    "source": "",
}


class Line(BaseModel):
    number: int
    text: str
    tags: list[str]


class Report(BaseModel):
    lines: list[Line]


LINES = [{"number": n, "text": f"line {n}", "tags": ["a", "b", "c"]} for n in range(150_000)]
app = FastAPI()


@app.get("/report", response_model=Report)
async def report():  # FAULT
    return {"lines": LINES}  # FAULT
