"""The composition root of process 1."""

from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from typing import Any

from fastapi import FastAPI

from app import __version__
from app.settings import Settings
from app.telemetry.observers import Observers
from app.telemetry.record import WebhookRecord
from app.web import docs, health, problems, releases
from app.web.endpoint import add_endpoint, measure
from app.web.experiments import add_middleware
from app.web.gate.admission import Admission
from app.web.openapi import DescribedFastAPI
from app.web.webhook import PATH


def create_app(settings: Settings, observers: Observers[WebhookRecord] | None = None) -> FastAPI:
    """The service, with the release that `settings` name. Opens no connection before its lifespan.

    `observers` are told of its webhooks and its calls.
    Raises ConfigurationError where APP_DOCS needs a package that is not installed.
    """
    release = releases.load(settings.release)
    observers = observers or Observers()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[Any]:
        async with release.lifespan(app) as state:
            with ExitStack() as stack:
                if settings.timeline is not None:
                    from app.telemetry.timeline import recorded  # not imported without APP_TIMELINE

                    stack.enter_context(recorded(settings.timeline, PATH))
                stack.enter_context(observers.measuring())
                yield state

    app = DescribedFastAPI(
        title="invoice-webhook",
        version=__version__,
        lifespan=lifespan,
        exception_handlers=problems.HANDLERS,
        redirect_slashes=False,
        openapi_url="/openapi.json" if settings.docs else None,
        docs_url=None,
        redoc_url=None,
    )
    app.state.settings = settings
    app.state.admission = Admission(settings)
    app.state.observers = observers
    app.state.observe_calls = observers.of_calls()
    app.include_router(health.router)
    add_endpoint(app, release, settings, app.state.admission, observers)
    if observers.metrics is not None:
        measure(app.state.admission, observers.metrics, settings.release)
    if settings.docs:
        docs.add_docs(app)
    add_middleware(app, settings.middleware)
    if settings.profile is not None:
        from app.telemetry.profiling import Profiling  # not imported without APP_PROFILE

        app.add_middleware(Profiling, settings.profile, PATH)
    return app
