"""Wraps the service's `create_app`, and adds the instruments that the variables INSTRUMENT_… choose."""

import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import boto3
from fastapi import FastAPI

from app.errors import ConfigurationError
from app.settings import WebSettings
from app.sqs.group_commit import GroupCommit
from app.telemetry.observers import Observers
from app.telemetry.record import WebhookRecord
from app.web import main
from app.web.middleware import PATH
from app.web.service import Service
from profiles.instruments import COLD_CLIENTS, OVERHEAD_MS, PROFILE, TIMELINE
from profiles.instruments.overhead import Overhead
from profiles.instruments.timeline import Callbacks, recorded


def create_app(settings: WebSettings | None = None, observers: Observers[WebhookRecord] | None = None) -> FastAPI:
    """Returns the application of `app.web.main.create_app`, with instruments.

    Raises ConfigurationError if that function does, or if OVERHEAD_MS has no effect on the release.
    `uvicorn --factory profiles.instruments.wrapped:create_app` works as well.
    """
    app = main.create_app(settings, observers)
    webhooks = Service.of(app).webhooks
    if milliseconds := float(os.environ.get(OVERHEAD_MS, "0")):
        if webhooks is not None:
            raise ConfigurationError(f"{OVERHEAD_MS}: has no effect on a release whose webhooks pass no middleware")
        app.add_middleware(Overhead, seconds=milliseconds / 1000)
    if folder := os.environ.get(PROFILE):
        # Imported only if needed, because pyinstrument is no dependency of the service.
        from profiles.instruments.profiler import Profiling, profile_callbacks

        if webhooks is None:
            app.add_middleware(Profiling, folder=Path(folder), path=PATH)
        else:
            profile_callbacks(webhooks.intake, Path(folder))
    if os.environ.get(COLD_CLIENTS) == "1":
        _forget_clients(app)
    if file := os.environ.get(TIMELINE):
        callbacks = None if webhooks is None else Callbacks(webhooks.open, GroupCommit.submit.__code__)
        _record_timeline(app, Path(file), callbacks)
    return app


def _record_timeline(app: FastAPI, file: Path, callbacks: Callbacks | None) -> None:
    """Makes `app` record a timeline from the end of its start-up to the beginning of its shutdown."""
    _between(app, lambda: recorded(file, PATH, callbacks))


def _forget_clients(app: FastAPI) -> None:
    """Makes `app` forget botocore's data files, which a release caches when it builds a client at its start."""

    @contextmanager
    def forgotten() -> Iterator[None]:
        boto3.setup_default_session()
        yield

    _between(app, forgotten)


def _between(app: FastAPI, opened: Callable[[], AbstractContextManager[None]]) -> None:
    """Makes `app` enter the context `opened()` after its start-up, and leave this context before its shutdown."""
    lifespan = app.router.lifespan_context

    @asynccontextmanager
    async def wrapped(app: Any) -> AsyncIterator[Any]:
        async with lifespan(app) as state:
            with opened():
                yield state

    app.router.lifespan_context = wrapped
