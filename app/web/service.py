"""Defines the application that the server runs: FastAPI, with WebhookEndpoint in front of it."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from fastapi import FastAPI, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from app import __version__
from app.billing.access import BillingAccess
from app.composition import billing_access, send_limits
from app.settings import Settings
from app.sqs.queue import QueueAddress
from app.telemetry.observers import Observers
from app.telemetry.record import WebhookRecord
from app.web import openapi, problems
from app.web.endpoint import WebhookEndpoint
from app.web.gate.admission import Admission
from app.web.gate.gate import Gate

if TYPE_CHECKING:
    from app.web.callbacks import CallbackDoor

Lifespan = Callable[["Service"], AbstractAsyncContextManager[Any]]


class Service(FastAPI):
    """A FastAPI application whose typed attributes replace `app.state`. Routes and releases use these attributes.

    `queue` and `limits` are the address and the limits that releases pass to their SQS client.
    """

    def __init__(self, settings: Settings, observers: Observers[WebhookRecord], lifespan: Lifespan) -> None:
        super().__init__(
            title="invoice-webhook",
            version=__version__,
            lifespan=lifespan,
            exception_handlers=problems.HANDLERS,
            redirect_slashes=False,
            openapi_url="/openapi.json" if settings.docs else None,
            docs_url=None,
            redoc_url=None,
        )
        self.settings = settings
        self.admission = Admission(settings)
        self.observers = observers
        self.observe_calls = observers.of_calls()
        self.limits = send_limits(settings)
        self.door: CallbackDoor | None = None  # None if the release uses ASGI
        self._entrance: ASGIApp = super().__call__

    @classmethod
    def of(cls, request: Request) -> Self:
        """Returns the service that received `request`."""
        service = request.app
        assert isinstance(service, cls)
        return service

    @cached_property
    def queue(self) -> QueueAddress:
        """The address in APP_SQS_QUEUE_URL. Raises ConfigurationError if APP_SQS_QUEUE_URL is not set."""
        return QueueAddress.at(self.settings.require_queue_url())

    @cached_property
    def billing(self) -> BillingAccess:
        """The DynamoDB table and the Chargebee site. v01 needs both, because it does the billing work itself.

        Raises ConfigurationError if a setting of the table or of the site is missing.
        """
        return billing_access(self.settings)

    def serve_webhooks(self, handler: ASGIApp, gate: Gate, middleware: Sequence[Callable[[ASGIApp], ASGIApp]]) -> None:
        """Makes webhooks pass `gate` to `handler`. Wraps the service in `middleware`; the last item is outermost."""
        self._entrance = WebhookEndpoint(super().__call__, handler, gate)
        for wrap in middleware:
            self._entrance = wrap(self._entrance)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["app"] = self
        await self._entrance(scope, receive, send)

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            self.openapi_schema = openapi.document(self)
        return self.openapi_schema
