"""Chargebee in memory: the operations, rate limit, locks and idempotency keys of the stand-in, in virtual time."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple
from urllib.parse import unquote

import aiohttp
import orjson

from local.chargebee import api_errors
from local.chargebee.api_errors import ApiError
from local.chargebee.api_limits import IdempotencyKeys, RateLimit
from local.chargebee.invoice import VOIDED, StoredInvoice
from local.chargebee.operations import Site

KEY_SECONDS = 1800.0
_PATH = re.compile(
    r"/api/v2/(?:invoices(?:/(?P<invoice>[^/]+)(?:/(?P<operation>add_charge|close))?)?|events|subscriptions)"
)


class Request(NamedTuple):
    """A request to the API. `key`: the idempotency key."""

    method: str
    path: str
    params: Mapping[str, str]
    key: str | None

    @property
    def invoice_id(self) -> str:
        found = _PATH.fullmatch(self.path)
        return unquote(found["invoice"] or "") if found else ""

    @property
    def operation(self) -> str:
        found = _PATH.fullmatch(self.path)
        assert found, self.path
        if found["invoice"]:
            return found["operation"] or "retrieve"
        return "list_" + self.path.rpartition("/")[2]

    @property
    def changes(self) -> bool:
        return self.method == "POST"


class Answer(NamedTuple):
    """An answer of the API. `digest` identifies the content, without the random ids of line items."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    digest: object


class MemorySite:
    """One site. `unix` returns the time in seconds. `on_change` receives each request that has changed an invoice.

    `on_limit` is called for each request that the rate limit rejects.
    """

    def __init__(
        self,
        rate: int,
        unix: Callable[[], float],
        on_change: Callable[[Request, StoredInvoice], None],
        on_limit: Callable[[], None],
        key_seconds: float = KEY_SECONDS,
        *,
        renumber: bool,
    ) -> None:
        self.site = Site()
        self.limit = RateLimit(rate)
        self.locked: dict[str, str | None] = {}  # by invoice, the idempotency key of the late call that locks it
        self._keys = IdempotencyKeys()
        self._until: dict[str, float] = {}
        self.on_void: Callable[[str], None] = lambda _: None  # receives the id of a void invoice in an answer
        self._unix, self._on_change, self._on_limit = unix, on_change, on_limit
        self._key_seconds, self._renumber = key_seconds, renumber

    def answer(self, request: Request) -> Answer:
        try:
            self._count()
            body = self._perform(request)
            digest = self._seen(request, body)
            self._notice_void(request)
            return Answer(200, {}, body, digest)
        except ApiError as error:
            return Answer(
                error.status, error.headers, orjson.dumps(error.body()), (error.code, *error.headers.values())
            )

    def _count(self) -> None:
        try:
            self.limit.take(self._unix())
        except ApiError:
            self._on_limit()
            raise

    def key(self) -> object:
        """Returns everything on which later answers depend."""
        return self.invoices(), sorted(self._until.items()), list(self.limit._taken), sorted(self.locked.items())

    def _perform(self, request: Request) -> bytes:
        if not request.changes:
            if request.operation == "list_events":
                return self.site.events.page(request.params)
            if request.operation == "list_subscriptions":
                return self.site.subscriptions.page(request.params)
            if request.operation == "list_invoices":
                return self.site.list_invoices(request.params)
            return self.site.retrieve(request.invoice_id, request.params)
        if request.invoice_id in self.locked:
            same_key = self.locked[request.invoice_id] == request.key
            raise api_errors.still_in_progress() if same_key else api_errors.lock_timeout()
        assert request.key is not None, "a change without an idempotency key"
        same = request.path, orjson.dumps(request.params)
        earlier = self._keys.replay(request.key, same, self._unix())
        if earlier is not None:
            return earlier
        at = self._unix()
        if request.operation == "close":
            done = self.site.close(request.invoice_id, request.key, at, renumber=self._renumber)
        else:
            done = self.site.add_charge(request.invoice_id, request.params, request.key, at)
        self._keys.store(request.key, same, done, at, self._key_seconds)
        self._until[request.key] = at + self._key_seconds
        self._on_change(request, self.site.invoices[request.invoice_id])
        return done

    def _notice_void(self, request: Request) -> None:
        listed = request.operation == "list_invoices"
        asked = request.params["customer_id[is]"] if listed else request.invoice_id
        for one in self.site.invoices.values():
            if one.status == VOIDED and asked in (one.id, one.number, one.customer_id) and not request.changes:
                self.on_void(one.id)

    def _seen(self, request: Request, body: bytes) -> object:
        """Returns a value that identifies the content of an answer."""
        match request.operation:
            case "list_subscriptions":
                return body
            case "list_invoices" | "list_events":
                return self.invoices()
        found = (one for one in self.site.invoices.values() if request.invoice_id in (one.id, one.number))
        return content_of(next(found))

    def invoices(self) -> list[object]:
        """Returns the content of all invoices. The invoices of a customer are in the order of their last change."""
        return [content_of(one) for one in sorted(self.site.invoices.values(), key=lambda one: one.customer_id)]


def content_of(invoice: StoredInvoice) -> object:
    """Returns the content of an invoice, without the random ids of its lines."""
    charges = [(charge.description, charge.amount, charge.idempotency_key) for charge in invoice.charges]
    return invoice.id, invoice.number, invoice.status, invoice.deleted, invoice.added, charges, len(invoice.closes)


class _Content:
    def __init__(self, body: bytes) -> None:
        self._body = body

    async def readexactly(self, size: int) -> bytes:
        if len(self._body) < size:
            raise asyncio.IncompleteReadError(self._body, size)
        return self._body[:size]


class _Response(NamedTuple):
    status: int
    headers: Mapping[str, str]
    content: _Content


class SiteSession:
    """Stands in for aiohttp's session. `call` passes a request to the world, and returns the answer."""

    def __init__(self, call: Callable[[Request, float | None], Any]) -> None:
        self._call = call

    @asynccontextmanager
    async def request(
        self,
        method: str,
        path: str,
        *,
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109  # aiohttp's name
        allow_redirects: bool,
        params: Mapping[str, str] | None = None,
        data: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncIterator[_Response]:
        assert not allow_redirects
        key = (headers or {}).get("chargebee-idempotency-key")
        request = Request(method, path, dict(params or data or {}), key)
        async with asyncio.timeout(timeout.total):
            answer = await self._call(request, timeout.total)
        yield _Response(answer.status, answer.headers, _Content(answer.body))
