"""`python -m app web`: serves the webhooks."""

from collections.abc import Callable

import click
from fastapi import FastAPI

from app.settings import Settings, load_settings
from app.settings.text import listing
from app.sqs.account import require_direct
from app.sqs.sdk import require_credentials, require_sdk
from app.sqs.unattended import require_unattended, warn_of_another_queue
from app.telemetry.logging import configure_logging
from app.telemetry.observers import Observers, exported, make_observers
from app.telemetry.record import WebhookRecord
from app.telemetry.stderr import replace_stderr
from app.web.gate.auth import warn_of_weak_passwords
from app.web.main import create_app
from app.web.middleware import PATH
from app.web.server.serve import serve, serve_by_uvicorn
from app.web.service import Service

CreateApp = Callable[[Settings, Observers[WebhookRecord]], FastAPI]
_SETTINGS = f"\b\nSettings, from the environment (default in brackets):\n{listing(Settings)}"


@click.command(epilog=_SETTINGS)
def web() -> None:
    """Serve POST /webhooks/chargebee and put each webhook on SQS.

    APP_SQS_QUEUE_URL, APP_BASIC_AUTH_USERNAME and APP_BASIC_AUTH_PASSWORD must be set. Release v01 uses no queue:
    instead of APP_SQS_QUEUE_URL, it needs APP_BILLING_TABLE, APP_CHARGEBEE_URL and APP_CHARGEBEE_API_KEY. The AWS SDK's
    variables, such as AWS_DEFAULT_REGION, set the region, the credentials and the endpoint.

    SIGTERM drains the process (see APP_DRAIN_DELAY) and then stops it. Ctrl-C stops the process when the requests in
    flight are finished. A second signal ends the process at once.
    """
    serve_web()


def serve_web(create: CreateApp = create_app) -> None:
    """Serves the application that `create` makes, with the settings from the environment. Raises ConfigurationError."""
    settings = load_settings()
    log = replace_stderr()
    configure_logging(settings)
    settings.require_web()
    require_sdk()
    require_unattended()
    if settings.release.direct:
        require_direct()
    if settings.release.keeps_sdk_client:
        require_credentials()
    warn_of_weak_passwords(settings)
    if settings.release.enqueues:
        warn_of_another_queue(settings.require_queue_url())
    observers = make_observers(settings, "POST", PATH)
    log.add_to(observers.metrics)
    app = create(settings, observers)
    service = Service.of(app)
    with exported(observers, settings):
        if service.door is None:
            serve_by_uvicorn(app, settings, drain=service.admission.drain)
        else:
            serve(app, settings, drain=service.admission.drain, door=service.door)
