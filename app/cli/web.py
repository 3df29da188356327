"""`python -m app web`: serves the webhooks."""

from collections.abc import Callable

import click
from fastapi import FastAPI

from app.settings import WebSettings
from app.settings.text import listing
from app.telemetry.observers import Observers, exported
from app.telemetry.record import WebhookRecord
from app.web.main import create_app, prepare
from app.web.serve import serve

CreateApp = Callable[[WebSettings, Observers[WebhookRecord]], FastAPI]
_SETTINGS = f"\b\nSettings, from the environment (default in brackets):\n{listing(WebSettings)}"


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


def serve_web(create: CreateApp = create_app, *, ours: bool = False) -> None:
    """Serves the application that `create` builds from the settings in the environment. Raises ConfigurationError.

    `ours`: True if this project's own server serves every release, even a release that is made for uvicorn.
    """
    settings, observers = prepare()
    app = create(settings, observers)
    with exported(observers, settings):
        serve(app, ours=ours)
