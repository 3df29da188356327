"""Serves the paths below `/_/`, which control the stand-in and are not part of Chargebee's API.

With these paths, tests and commands register invoices, read what has happened to the invoices, and change the
stand-in's options. The paths need no API key. `local.local_guard` rejects requests that a website sends through the
user's browser.
"""

from contextlib import suppress
from http import HTTPStatus
from typing import Any

import orjson
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from local.chargebee.api import Api
from local.chargebee.api_errors import ApiError, invalid_request
from local.chargebee.behaviour import Behaviour
from local.chargebee.routing import BY_HAND


class ControlPaths:
    """Handles the requests to the paths below `/_/`. `routes()` lists the paths."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def routes(self) -> list[Route]:
        return [
            Route("/_/invoices", self._register, methods=["PUT"]),
            Route("/_/invoices", self._invoices, methods=["GET"]),
            Route("/_/subscriptions", self._subscribe, methods=["PUT"]),
            Route(f"{BY_HAND}/{{path:path}}", self._api.answer_by_hand, methods=["GET", "POST"]),
            Route("/_/line_items", self._edit, methods=["PUT"]),
            Route("/_/audit", self._audit, methods=["GET"]),
            Route("/_/behaviour", self._behave, methods=["PUT"]),
            Route("/_/behaviour", self._behaviour, methods=["GET"]),
        ]

    async def _register(self, request: Request) -> Response:
        try:
            new = self._register_all(await _entries(request))
        except ApiError as error:
            return _json(error.body(), error.status)
        return _json({"invoices": len(self._api.site.invoices), "new": new})

    def _register_all(self, entries: list[dict[str, Any]]) -> list[str]:
        """Registers the invoices, and returns the ids of the new ones. Raises ApiError, and then registers none."""
        before = len(self._api.site.invoices)
        try:
            added = [self._api.site.register(entry, self._api.clock()) for entry in entries]
        except ApiError:
            # Otherwise, the invoices added before the error would never get usage, because the client writes usage only
            # for new invoices, and writes none after an error.
            for name in [*self._api.site.invoices][before:]:
                del self._api.site.invoices[name]
            raise
        return [invoice.id for invoice in added if invoice]

    async def _invoices(self, request: Request) -> Response:
        return _json([invoice.summary() for invoice in self._api.site.invoices.values()])

    async def _subscribe(self, request: Request) -> Response:
        """Stores the subscriptions that the body lists.

        The body is `[{"id": "s1", "customer_id": "c1", "status": "cancelled", …}, …]`.
        """
        try:
            for document in await _entries(request):
                self._api.site.subscriptions.put(document)
        except ApiError as error:
            return _json(error.body(), error.status)
        return _json({})

    async def _edit(self, request: Request) -> Response:
        """Changes the line items that the body lists: `[{"invoice_id": "i1", "id": "li_1", "amount": 5}, …]`."""
        try:
            for changes in await _entries(request):
                invoice_id, line_id = str(changes.pop("invoice_id", "")), str(changes.pop("id", ""))
                self._api.corrections.edit_line_item(invoice_id, line_id, changes, self._api.clock())
        except ApiError as error:
            return _json(error.body(), error.status)
        return _json({})

    async def _audit(self, request: Request) -> Response:
        invoices = [invoice.audited() for invoice in self._api.site.invoices.values()]
        return _json({"invoices": invoices, **self._api.calls.audited(), "limit": self._api.limit.rate})

    async def _behave(self, request: Request) -> Response:
        try:
            changes = orjson.loads(await request.body())
            self._api.behave(Behaviour.model_validate(self._api.behaviour.model_dump() | changes))
        except ValidationError as error:
            return _json({"errors": error.errors(include_url=False, include_context=False)}, 400)
        except (ValueError, TypeError):
            return _json({"errors": "the body must be a JSON object"}, 400)
        return await self._behaviour(request)

    async def _behaviour(self, request: Request) -> Response:
        """Answers with the stand-in's options except the API key, which clients may change but not read."""
        return _json(self._api.behaviour.model_dump(exclude={"api_key"}))


async def _entries(request: Request) -> list[dict[str, Any]]:
    """Returns the request's body. Raises ApiError if the body is not a JSON list of objects."""
    with suppress(ValueError):
        entries = orjson.loads(await request.body())
        if isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries):
            return entries
    raise invalid_request("the body must be a JSON list of objects")


def _json(content: object, status: int = HTTPStatus.OK) -> Response:
    return Response(orjson.dumps(content), status, media_type="application/json")
