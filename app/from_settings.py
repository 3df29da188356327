"""Translates settings into the values that app.billing and app.sqs take, because neither of them reads settings."""

from app.billing.access import BillingAccess
from app.settings import WebSettings, WorkerSettings
from app.settings.web_settings import BODY_BYTES, KIB, MIB
from app.sqs.queue import SendLimits


def billing_access(settings: WorkerSettings) -> BillingAccess:
    """Returns the values for access to the table and Chargebee. Raises ConfigurationError if a setting is missing."""
    settings.require_billing()
    assert settings.billing_table is not None
    assert settings.chargebee_url is not None
    assert settings.chargebee_api_key is not None
    return BillingAccess(
        settings.billing_table,
        # Two for each event: the work on an event and the renewal of its lease may call the table at the same time.
        connections=2 * settings.worker_concurrency,
        site_url=settings.chargebee_url.rstrip("/"),
        api_key=settings.chargebee_api_key,
        call_timeout=settings.chargebee_timeout,
        rate=settings.chargebee_rate,
        lease=settings.billing_lease,
        exempt=settings.billing_exempt,
    )


def send_limits(settings: WebSettings, connections: int = 10) -> SendLimits:
    """Returns the limits for clients that send to APP_SQS_QUEUE_URL.

    `connections`: the size of the connection pool of the AWS SDK's clients. If APP_SQS_MAX_CONNECTIONS is set, its
    value replaces `connections`.
    """
    # A queue that accepts bodies longer than BODY_BYTES also accepts batches of up to 1 MiB.
    batch_bytes = MIB if settings.max_body_bytes > BODY_BYTES else 256 * KIB
    connections = settings.sqs_max_connections or connections
    return SendLimits(settings.sqs_timeout, connections, settings.sqs_batches, call_bytes=batch_bytes)
