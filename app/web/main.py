"""Assembles the web process: the chosen release, the gate in front of it, FastAPI and the metrics."""

from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from fastapi.middleware.asyncexitstack import AsyncExitStackMiddleware
from fastapi.routing import APIRoute
from starlette.types import ASGIApp

from app.settings import Release, Settings
from app.sqs.group_commit import GroupCommit
from app.telemetry.lines import WebhookLines
from app.telemetry.observers import Observers
from app.telemetry.record import UNANSWERED, WebhookRecord
from app.web import docs, health, releases
from app.web.endpoint import PATH
from app.web.experiments import MIDDLEWARE, Overhead, response_as_named
from app.web.gate.admission import Admission
from app.web.gate.gate import Gate
from app.web.openapi import described
from app.web.problems import REFUSALS
from app.web.releases import ReleaseModule
from app.web.service import Service
from app.web.webhook import over_asgi

if TYPE_CHECKING:
    from app.telemetry.metrics.service import Metrics


def create_app(settings: Settings, observers: Observers[WebhookRecord] | None = None) -> Service:
    """Returns the application with the release of `settings`. It opens no connection before its lifespan starts.

    `observers` receive a record of each webhook and of each call to SQS.
    Raises ConfigurationError if APP_DOCS=1 and Swagger UI is not installed, or if an option is set that has no effect
    on a release without ASGI.
    """
    release = releases.load(settings.release)
    observers = observers or Observers()
    service = Service(settings, observers, _lifespan(release))
    service.include_router(health.router)
    if getattr(release, "WITHOUT_ASGI", False):
        _serve_without_asgi(service, release)
    else:
        _serve_over_asgi(service, release)
    if observers.metrics is not None:
        _measure(service.admission, observers.metrics, settings.release)
    if settings.docs:
        docs.add_docs(service)
    return service


def _serve_over_asgi(service: Service, release: ReleaseModule) -> None:
    settings = service.settings
    middleware = list(MIDDLEWARE[settings.middleware])
    if settings.request_overhead_ms:
        middleware.append(partial(Overhead, seconds=settings.request_overhead_ms / 1000))
    if settings.profile is not None:
        from app.telemetry.profiling import Profiling  # imported only if APP_PROFILE is set

        middleware.append(partial(Profiling, folder=settings.profile, path=PATH))
    gate = Gate(settings, service.admission, service.observers, WebhookLines(settings).log)
    service.serve_webhooks(_webhook_route(service, release.receive), gate, middleware)


def _serve_without_asgi(service: Service, release: ReleaseModule) -> None:
    """Serves webhooks by `CallbackDoor`. The webhooks that it cannot serve reach the same handler over ASGI.

    Raises ConfigurationError if an option is set that has no effect on a release without ASGI.
    """
    from app.web.callbacks import CallbackDoor  # imported only for a release without ASGI

    settings = service.settings
    settings.require_no_asgi()
    make_gate: Callable[..., Gate] = Gate
    if settings.profile is not None:
        from app.web.gate.profiled import ProfiledGate  # imported only if APP_PROFILE is set

        make_gate = partial(ProfiledGate, folder=settings.profile)
    gate = make_gate(settings, service.admission, service.observers, WebhookLines(settings).log)
    service.serve_webhooks(_webhook_route(service, over_asgi(release.receive)), gate, [])
    service.door = CallbackDoor(gate, release.receive)


def _lifespan(release: ReleaseModule) -> Callable[[Service], Any]:
    @asynccontextmanager
    async def lifespan(service: Service) -> AsyncIterator[Any]:
        async with release.lifespan(service) as state:
            with ExitStack() as stack:
                if service.settings.timeline is not None:
                    from app.telemetry.timeline import Callbacks, recorded  # imported only if APP_TIMELINE is set

                    door = service.door
                    callbacks = Callbacks(door.open, GroupCommit.submit.__code__) if door is not None else None
                    stack.enter_context(recorded(service.settings.timeline, PATH, callbacks))
                stack.enter_context(service.observers.measuring())
                yield state
            if service.door is not None:
                service.door.stop()

    return lifespan


def _webhook_route(service: Service, receive: Callable[..., Any]) -> ASGIApp:
    """Adds the release's handler as a route to FastAPI and to its OpenAPI document, and returns the handler as ASGI."""
    settings = service.settings
    service.router.add_api_route(
        PATH,
        receive,
        methods=["POST"],
        name="receive",
        summary="Receive a Chargebee event",
        tags=["webhooks"],
        **described(settings.release),
        **response_as_named(settings.response, settings.release),
    )
    route = service.router.routes[-1]
    assert isinstance(route, APIRoute)
    # FastAPI wraps its router in AsyncExitStackMiddleware. Webhooks bypass the router, so their route is wrapped here.
    return AsyncExitStackMiddleware(route.app)


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
