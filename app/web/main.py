"""Assembles the web process: the chosen release, the intake in front of it, FastAPI and the metrics."""

from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from functools import cache, partial
from http import HTTPStatus
from types import ModuleType
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI

from app import __version__
from app.errors import ConfigurationError, WebhookRefused
from app.settings import Release, WebSettings, load_settings, load_worker_settings
from app.sqs.account import require_direct
from app.sqs.sdk import require_credentials, require_sdk
from app.sqs.unattended import require_unattended, warn_of_another_queue
from app.telemetry.lines import WebhookLines
from app.telemetry.logging import configure_logging
from app.telemetry.observers import Observers, exported, make_observers
from app.telemetry.record import UNANSWERED, WebhookRecord
from app.telemetry.stderr import replace_stderr
from app.web import docs, health, openapi, problems, releases
from app.web.admission import Admission
from app.web.credentials import warn_of_weak_passwords
from app.web.intake import Intake
from app.web.middleware import PATH, WebhookMiddleware
from app.web.problems import REFUSALS
from app.web.service import Service
from app.web.webhook import refused
from app.web.webhooks import Webhooks

if TYPE_CHECKING:
    from app.telemetry.metrics.process_metrics import Metrics


def create_app(settings: WebSettings | None = None, observers: Observers[WebhookRecord] | None = None) -> FastAPI:
    """Returns the application with the release of `settings`. It opens no connection before its lifespan starts.

    `observers` receive a record of each webhook and of each call to SQS. Raises ConfigurationError if APP_DOCS=1 and
    Swagger UI is not installed. For `uvicorn --factory app.web.main:create_app`, `settings` is None: this function then
    calls `prepare`, and also raises ConfigurationError if uvicorn cannot serve the release.
    """
    exporting: AbstractContextManager[object] = nullcontext()
    if settings is None:
        chosen = load_settings().release
        if not chosen.needs_asgi:
            raise ConfigurationError(f"APP_RELEASE={chosen.value}: only `python -m app web` serves it")
        settings, observers = prepare()
        exporting = exported(observers, settings)
    release = releases.load(settings.release)
    observers = observers or Observers()
    admission = Admission(settings)
    intake = Intake(settings, admission, observers, WebhookLines(settings).log)
    webhooks = None if settings.release.needs_asgi else Webhooks(intake, release.receive)
    app = FastAPI(
        title="invoice-webhook",
        version=__version__,
        lifespan=partial(_lifespan, release, observers, exporting),
        exception_handlers={**problems.HANDLERS, WebhookRefused: refused},
        redirect_slashes=False,
        openapi_url="/openapi.json" if settings.docs else None,
        docs_url=None,
        redoc_url=None,
    )
    app.state.invoice_webhook = Service(settings, admission, observers.of_calls(), webhooks)
    app.include_router(health.router)
    app.include_router(release.router if webhooks is None else openapi.router, tags=["webhooks"])
    app.openapi = cache(partial(openapi.document, app, settings.release))  # type: ignore[method-assign]  # as FastAPI documents it
    if webhooks is None:
        app.add_middleware(WebhookMiddleware, intake=intake)
    if observers.metrics is not None:
        _measure(admission, observers.metrics, settings.release)
    if settings.docs:
        docs.add_docs(app)
    return app


def prepare() -> tuple[WebSettings, Observers[WebhookRecord]]:
    """Configures the log. Returns the settings from the environment, and the observers that the settings switch on.

    Raises ConfigurationError if the process cannot serve its release with these settings.
    """
    settings = load_settings()
    log = replace_stderr()
    configure_logging(settings)
    settings.require_web()
    if not settings.release.enqueues:
        load_worker_settings().require_billing()
    require_sdk()
    require_unattended()
    if settings.release.client == "lean":  # this client cannot use a proxy
        require_direct()
    if settings.release.client == "shared":  # if built without credentials, this client never searches for them again
        require_credentials()
    warn_of_weak_passwords(settings)
    if settings.release.enqueues:
        warn_of_another_queue(settings.require_queue_url())
    observers = make_observers(settings, "POST", PATH)
    log.add_to(observers.metrics)
    return settings, observers


@asynccontextmanager
async def _lifespan(
    release: ModuleType,
    observers: Observers[WebhookRecord],
    exporting: AbstractContextManager[object],
    app: FastAPI,
) -> AsyncIterator[Any]:
    with exporting:
        async with release.lifespan(app) as state:
            with observers.measuring():
                yield state


def _measure(admission: Admission, metrics: "Metrics[WebhookRecord]", release: Release) -> None:
    """Makes the counter of every possible outcome begin at 0, and adds the gauges of `admission` to the metrics."""
    from app.telemetry.metrics.instruments import gauge  # imported only if the process exports metrics

    refusals = [(refusal.slug, refusal.status) for refusal in REFUSALS.values()]
    metrics.records.expect([(release.accepted, HTTPStatus.OK.value), ("ignored", HTTPStatus.OK.value), *refusals])
    metrics.records.expect([(UNANSWERED, None)])
    metrics.add(
        [
            gauge("http.server.active_requests", "{request}", "Webhooks in flight.", lambda: admission.in_flight),
            gauge("invoice_webhook.buffered", "By", "Bodies in memory.", lambda: admission.buffered_bytes),
        ]
    )
