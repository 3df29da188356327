"""Runs the stand-in inside the test, with a clock that the test sets; creates invoices for it."""

import asyncio
from typing import Any

import httpx
import orjson
from httpx import Response
from starlette.applications import Starlette

from local.chargebee.behaviour import API_KEY, Behaviour
from local.chargebee.server import create_app
from local.sample_events import SAMPLES

BROKEN_OFF = 599
START = 1_800_000_000.0
EVENTS: list[dict[str, Any]] = [
    orjson.loads(file.read_bytes()) for file in sorted(SAMPLES.glob("pending_invoice_created_*.json"))
]


def invoice(number: int = 1, **changes: object) -> dict[str, Any]:
    """Returns a pending invoice with a line item."""
    document = dict(EVENTS[1]["content"]["invoice"])
    return document | {"id": f"draft_inv_{number}", "customer_id": f"customer-{number}", **changes}


class Client:
    """Sends requests to an application in this process; an answer that breaks off has the status BROKEN_OFF."""

    def __init__(self, app: Starlette) -> None:
        self._app = app

    def request(self, method: str, path: str, **options: Any) -> Response:
        async def ask() -> Response:
            transport = httpx.ASGITransport(self._app)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8002") as client:
                return await client.request(method, path, **options)

        try:
            return asyncio.run(ask())
        except AssertionError:  # by which httpx's transport says that an answer is not complete
            return Response(BROKEN_OFF)

    def get(self, path: str, **options: Any) -> Response:
        return self.request("GET", path, **options)

    def put(self, path: str, **options: Any) -> Response:
        return self.request("PUT", path, **options)

    def post(self, path: str, **options: Any) -> Response:
        return self.request("POST", path, **options)


class StandIn:
    """The stand-in; the methods are API calls with the valid key, unless `auth` is given."""

    def __init__(self, **behaviour: Any) -> None:
        self.time = START
        self.client = Client(create_app(Behaviour(**behaviour), lambda: self.time))

    def register(self, *entries: dict[str, Any]) -> Response:
        return self.client.put("/_/invoices", content=orjson.dumps(list(entries)))

    def behave(self, **changes: Any) -> Response:
        return self.client.put("/_/behaviour", content=orjson.dumps(changes))

    def audit(self) -> dict[str, Any]:
        found: dict[str, Any] = self.client.get("/_/audit").json()
        return found

    def get(self, path: str, auth: tuple[str, str] = (API_KEY, ""), **params: Any) -> Response:
        return self.client.get(f"/api/v2/{path}", params=params, auth=auth)

    def events(self, **params: Any) -> Response:
        return self.get("events", **params)

    def retrieve(self, number: int = 1, **params: Any) -> Response:
        return self.get(f"invoices/draft_inv_{number}", **params)

    def add(self, number: int = 1, key: str | None = None, **params: Any) -> Response:
        given = {"amount": 100, "description": "Usage [billable:b1@1]"} | params
        return self.post(f"invoices/draft_inv_{number}/add_charge", given, key)

    def close(self, number: int = 1, key: str | None = None) -> Response:
        return self.post(f"invoices/draft_inv_{number}/close", {}, key)

    def regenerate(self, subscription_id: str) -> Response:
        return self.post(f"subscriptions/{subscription_id}/regenerate_invoice")

    def post(self, path: str, params: dict[str, Any] | None = None, key: str | None = None) -> Response:
        headers = {"chargebee-idempotency-key": key} if key else {}
        return self.client.post(f"/api/v2/{path}", data=params, headers=headers, auth=(API_KEY, ""))


def code(response: Response) -> tuple[int, str]:
    """Returns the status, and Chargebee's code of an error."""
    return response.status_code, response.json()["api_error_code"]
