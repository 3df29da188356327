"""Assembles the web process: the chosen release, the gate in front of it, FastAPI and the metrics."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, nullcontext
from functools import cache, partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI

from app import __version__
from app.errors import WebhookRefused
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
from app.web.callbacks import CallbackDoor
from app.web.gate.admission import Admission
from app.web.gate.auth import warn_of_weak_passwords
from app.web.gate.gate import Gate
from app.web.middleware import PATH, WebhookMiddleware
from app.web.problems import REFUSALS
from app.web.releases import ReleaseModule
from app.web.service import Service
from app.web.webhook import over_asgi, refused

if TYPE_CHECKING:
    from app.telemetry.metrics.service import Metrics


def create_app(settings: WebSettings | None = None, observers: Observers[WebhookRecord] | None = None) -> FastAPI:
    """Returns the application with the release of `settings`. It opens no connection before its lifespan starts.

    `observers` receive a record of each webhook and of each call to SQS. Without `settings`, does what `python -m app
    web` does before it serves, so that `uvicorn --factory app.web.main:create_app` serves a release, too.
    Raises ConfigurationError if APP_DOCS=1 and Swagger UI is not installed.
    """
    exporting: AbstractContextManager[object] = nullcontext()
    if settings is None:
        settings, observers = prepare()
        exporting = exported(observers, settings)
    release = releases.load(settings.release)
    observers = observers or Observers()
    admission = Admission(settings)
    gate = Gate(settings, admission, observers, WebhookLines(settings).log)
    # FastAPI serves the webhooks of a release without ASGI that the door cannot serve.
    door = None if settings.release.needs_asgi else CallbackDoor(gate, release.receive)
    app = FastAPI(
        title="invoice-webhook",
        version=__version__,
        lifespan=_lifespan(release, observers, door, exporting),
        exception_handlers={**problems.HANDLERS, WebhookRefused: refused},
        redirect_slashes=False,
        openapi_url="/openapi.json" if settings.docs else None,
        docs_url=None,
        redoc_url=None,
    )
    app.state.service = Service(settings, admission, observers.of_calls(), door)
    app.include_router(health.router)
    if door is None:
        app.include_router(release.router, tags=["webhooks"])
    else:
        app.add_api_route(PATH, over_asgi(release.receive), methods=["POST"], name="receive", tags=["webhooks"])
    app.openapi = cache(partial(openapi.document, app, settings.release))  # type: ignore[method-assign]  # FastAPI's way
    app.add_middleware(WebhookMiddleware, gate=gate)
    if observers.metrics is not None:
        _measure(admission, observers.metrics, settings.release)
    if settings.docs:
        docs.add_docs(app)
    return app


def prepare() -> tuple[WebSettings, Observers[WebhookRecord]]:
    """Configures the log, and returns the settings from the environment, with the observers that they choose.

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
    if settings.release.direct:
        require_direct()
    if settings.release.keeps_sdk_client:
        require_credentials()
    warn_of_weak_passwords(settings)
    if settings.release.enqueues:
        warn_of_another_queue(settings.require_queue_url())
    observers = make_observers(settings, "POST", PATH)
    log.add_to(observers.metrics)
    return settings, observers


def _lifespan(
    release: ReleaseModule,
    observers: Observers[WebhookRecord],
    door: CallbackDoor | None,
    exporting: AbstractContextManager[object],
) -> Callable[[FastAPI], AbstractAsyncContextManager[Any]]:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[Any]:
        with exporting:
            async with release.lifespan(app) as state:
                with observers.measuring():
                    yield state
                if door is not None:
                    door.stop()

    return lifespan


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
