"""Gives the handlers of a process access to its settings, counters and observers."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from fastapi import FastAPI

from app.billing.access import BillingAccess
from app.from_settings import billing_access, send_limits
from app.settings import WebSettings, load_settings, load_worker_settings
from app.sqs.queue import QueueAddress, SendLimits
from app.telemetry.record import ObserveCall, unobserved
from app.web.admission import Admission

if TYPE_CHECKING:
    from app.web.webhooks import Webhooks


@dataclass(frozen=True)
class Service:
    """The settings, counters and observers of one process. `webhooks` is None for a release under ASGI."""

    settings: WebSettings
    admission: Admission
    observe_calls: ObserveCall = unobserved
    webhooks: "Webhooks | None" = None

    @classmethod
    def of(cls, app: FastAPI) -> "Service":
        """Returns the service of `app`. If `create_app` did not make `app`, creates a service from the environment."""
        if not hasattr(app.state, "invoice_webhook"):  # not `service`, because other applications may use that name
            settings = load_settings()
            app.state.invoice_webhook = cls(settings, Admission(settings))
        service: Service = app.state.invoice_webhook
        return service

    @cached_property
    def queue(self) -> QueueAddress:
        """The queue's name and account. Raises ConfigurationError if APP_SQS_QUEUE_URL is not set."""
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
