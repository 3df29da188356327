"""Holds what releases and probes need of their process."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from fastapi import FastAPI

from app.billing.access import BillingAccess
from app.composition import billing_access, send_limits
from app.settings import WebSettings, load_settings, load_worker_settings
from app.sqs.limits import SendLimits
from app.sqs.queue import QueueAddress
from app.telemetry.record import ObserveCall, unobserved
from app.web.gate.admission import Admission

if TYPE_CHECKING:
    from app.web.callbacks import CallbackDoor


@dataclass(frozen=True)
class Service:
    """The settings, counters and observers of one process. `door` is None unless webhooks need no ASGI (v11)."""

    settings: WebSettings
    admission: Admission
    observe_calls: ObserveCall = unobserved
    door: "CallbackDoor | None" = None

    @classmethod
    def of(cls, app: FastAPI) -> "Service":
        """Returns the service of `app`. If `create_app` has not made `app`, the environment has the settings."""
        if not hasattr(app.state, "service"):
            settings = load_settings()
            app.state.service = cls(settings, Admission(settings))
        service: Service = app.state.service
        return service

    @cached_property
    def queue(self) -> QueueAddress:
        """The address in APP_SQS_QUEUE_URL. Raises ConfigurationError if APP_SQS_QUEUE_URL is not set."""
        return QueueAddress.at(self.settings.require_queue_url())

    def limits(self, connections: int = 10) -> SendLimits:
        """Returns the limits of the client that sends to the queue. APP_SQS_MAX_CONNECTIONS overrides `connections`."""
        return send_limits(self.settings, connections)

    @cached_property
    def billing(self) -> BillingAccess:
        """The DynamoDB table and the Chargebee site. v01 needs both, because it does the billing work itself.

        Raises ConfigurationError if a setting of the table or of the site is missing.
        """
        return billing_access(load_worker_settings())
