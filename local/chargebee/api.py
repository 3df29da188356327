"""Serves Chargebee's API over HTTP.

For each call, the API checks the API key and the rate limit. While a call changes an invoice, other calls cannot change
it. The options in `behaviour.py` can add latency and errors. If a client repeats a successful request with the same
idempotency key, the API sends the first answer again.
"""

import asyncio
import base64
import binascii
import hmac
from collections.abc import Callable
from contextlib import nullcontext

import orjson
from starlette.requests import Request
from starlette.responses import Response

from local.chargebee import api_errors
from local.chargebee.api_errors import ApiError
from local.chargebee.api_limits import IdempotencyKeys, Locks, RateLimit
from local.chargebee.behaviour import ApiFaults, Behaviour, Fault
from local.chargebee.call_log import CallLog
from local.chargebee.corrections import Corrections
from local.chargebee.lost_answers import CutOff, gateway_timeout
from local.chargebee.operations import Site
from local.chargebee.routing import Call, read, route

REPLAYED = "chargebee-idempotency-replayed"
_JSON = "application/json;charset=utf-8"


class Api:
    """Answers the API calls to one Chargebee site.

    `clock` returns the unix time in seconds. The time must never decrease.
    """

    def __init__(self, site: Site, behaviour: Behaviour, clock: Callable[[], float]) -> None:
        self.site = site
        self.corrections = Corrections(site)
        self._operations = self._table()
        self.calls = CallLog()
        self.clock = clock
        self.limit = RateLimit(behaviour.rate)
        self._keys = IdempotencyKeys()
        self._locks = Locks()
        self.behave(behaviour)

    def behave(self, behaviour: Behaviour) -> None:
        """Sets the stand-in's options, which apply to all later calls.

        Earlier calls still count against the rate limit, and stored idempotency keys remain valid.
        """
        self.behaviour = behaviour
        self.limit.change(behaviour.rate)
        self._faults = ApiFaults(behaviour)

    async def answer(self, request: Request) -> Response:
        operation, resource = route(request)
        try:
            self._authenticate(request)
            self._count_call()
            response = await self._perform(await read(request, operation, resource))
        except ApiError as error:
            response = Response(orjson.dumps(error.body()), error.status, error.headers, _JSON)
        status = "cut_off" if isinstance(response, CutOff) else str(response.status_code)
        self.calls.answer(operation, status, self.clock())
        return response

    async def answer_by_hand(self, request: Request) -> Response:
        """Performs an operation as if a person had used Chargebee's web application.

        The request needs no API key, does not count against the rate limit, and gets no injected error.
        """
        try:
            call = await read(request, *route(request))
            with self._locks.lock(call.locked) if call.changes else nullcontext():
                return Response(self._do(call), media_type=_JSON)
        except ApiError as error:
            return Response(orjson.dumps(error.body()), error.status, error.headers, _JSON)

    def _authenticate(self, request: Request) -> None:
        scheme, _, encoded = request.headers.get("authorization", "").partition(" ")
        try:
            key, _, _ = base64.b64decode(encoded).partition(b":")
        except (binascii.Error, ValueError):
            raise api_errors.unauthorized() from None
        if scheme.lower() != "basic" or not hmac.compare_digest(key, self.behaviour.api_key.encode()):
            raise api_errors.unauthorized()

    def _count_call(self) -> None:
        now = self.clock()
        try:
            self.limit.take(now)
        finally:
            self.calls.arrive(now, self.limit.used(now))
        if (retry_after := self._faults.retry_after()) is not None:
            raise api_errors.limit_exceeded(retry_after)

    async def _perform(self, call: Call) -> Response:
        fault = self._faults.draw()
        if fault is not None:
            self.calls.inject(fault.value)
        if call.changes:
            with self._locks.lock(call.locked, call.key):
                response = await self._work(call, fault)
        else:
            response = await self._work(call, fault)
        if fault is Fault.GATEWAY_TIMEOUT:
            return gateway_timeout()
        return CutOff(response.body) if fault is Fault.CUT_OFF else response

    async def _work(self, call: Call, fault: Fault | None) -> Response:
        if self.behaviour.latency:
            await asyncio.sleep(self.behaviour.latency)
        if fault is not None and not fault.after_the_work:
            raise api_errors.injected(fault.value)
        if call.key is None:
            return Response(self._do(call), media_type=_JSON)
        if (earlier := self._keys.replay(call.key, (call.path, call.body), self.clock())) is not None:
            self.calls.replay()
            return Response(earlier, headers={REPLAYED: "true"}, media_type=_JSON)
        done = self._do(call)
        seconds = self.behaviour.idempotency_seconds
        self._keys.store(call.key, (call.path, call.body), done, self.clock(), seconds)
        return Response(done, media_type=_JSON)

    def _do(self, call: Call) -> bytes:
        if call.operation == "wrong_method":
            raise api_errors.wrong_method()
        if call.operation not in self._operations:
            raise api_errors.no_such_path(call.path)
        return self._operations[call.operation](call)

    def _table(self) -> dict[str, Callable[[Call], bytes]]:
        """Returns the function of each operation, by the operation's name."""
        site, corrections = self.site, self.corrections
        return {
            "retrieve": lambda call: site.retrieve(call.resource, call.params),
            "list_invoices": lambda call: site.list_invoices(call.params),
            "list_events": lambda call: site.events.page(call.params),
            "list_subscriptions": lambda call: site.subscriptions.page(call.params),
            "add_charge": lambda call: site.add_charge(call.resource, call.params, call.key, self.clock()),
            "close": lambda call: site.close(call.resource, call.key, self.clock(), renumber=self.behaviour.renumber),
            "void": lambda call: corrections.void(call.resource, self.clock()),
            "delete": lambda call: corrections.delete(call.resource, self.clock()),
            "delete_line_items": lambda call: corrections.delete_line_items(call.resource, call.params, self.clock()),
            "regenerate_invoice": lambda call: corrections.regenerate(call.resource, self.clock()),
        }
