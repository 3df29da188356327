"""Question: how much does each of the talk's small tips save on an endpoint that does almost no work?

Setup: four ways to give the same small answer (a JSONResponse, a dict that FastAPI encodes, a declared model that
FastAPI validates, and bytes of orjson), and two ways to validate a body (only by FastAPI, or also by the handler). For
other tips, settings of the lab change: the kind of middleware (APP_LAB_MIDDLEWARE), the event loop (APP_LAB_LOOP), the
HTTP parser (APP_LAB_HTTP), the backlog of the socket (APP_LAB_BACKLOG), uvicorn's limit of concurrency
(APP_LAB_LIMIT_CONCURRENCY) and uvicorn's access log (APP_LAB_ACCESS_LOG).

Published: the talk "How to make your application up to 20x slower with FastAPI" (2024) gives a figure for one tip only:
without uvloop and httptools, 38 % instead of 45 % of 1,000 requests succeeded.

What to expect: BaseHTTPMiddleware costs most, because it makes a task group and two streams for each request. h11
costs second most, and the access log third most. With small answers and bodies, every other tip saves less than the
difference between two runs of the same endpoint. This includes uvloop instead of asyncio, and a JSONResponse instead of
a dict. A full backlog never causes a 503; `--limit-concurrency` does.
"""

from typing import Any

import orjson
from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.responses import JSONResponse, Response

from lab.application.opening import nothing as opened

__all__ = ["opened", "router"]

MOST_BYTES = 1024 * 1024
ANSWER = {"status": "queued", "event_id": "ev_ZXezuTUBe7r5iIaw"}

router = APIRouter(prefix="/tips")


class Answer(BaseModel):
    status: str
    event_id: str


class LineItem(BaseModel):
    """A few fields of Chargebee's line item."""

    id: str
    date_from: int
    date_to: int
    unit_amount: int
    description: str


class Invoice(BaseModel):
    id: str
    customer_id: str
    total: int
    line_items: list[LineItem]


class Content(BaseModel):
    invoice: Invoice


class InvoiceEvent(BaseModel):
    id: str
    event_type: str
    content: Content


@router.post("/nothing")
async def nothing() -> JSONResponse:
    return JSONResponse(ANSWER)


@router.post("/dict", response_model=None)
async def as_dict() -> dict[str, str]:
    return ANSWER


@router.post("/response-model", response_model=Answer)
async def response_model() -> Any:
    return ANSWER


@router.post("/orjson")
async def by_orjson() -> Response:
    return Response(orjson.dumps(ANSWER), media_type="application/json")


@router.post("/body-once", max_body_size=MOST_BYTES)
async def body_once(event: InvoiceEvent) -> JSONResponse:
    return JSONResponse({**ANSWER, "event_id": event.id})


@router.post("/body-twice", max_body_size=MOST_BYTES)
async def body_twice(event: InvoiceEvent, request: Request) -> JSONResponse:
    again = InvoiceEvent.model_validate(await request.json())
    return JSONResponse({**ANSWER, "event_id": again.id})
