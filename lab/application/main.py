"""Assembles the lab's application from the endpoints of all experiments."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from anyio.to_thread import current_default_thread_limiter
from fastapi import FastAPI

from lab.application import blocking, database, do_nothing, orders, outbound, three_tasks, tips
from lab.application.counted_threads import CountThreads
from lab.application.lab_middleware import add_middleware
from lab.application.lab_problems import LabUnavailable, unavailable
from lab.lab_settings import LabSettings, load_lab_settings
from profiles.instruments.overhead import Overhead

EXPERIMENTS = (do_nothing, tips, three_tasks, outbound, blocking, database, orders)


def create_app(settings: LabSettings) -> FastAPI:
    """Creates the application.

    Each experiment is a module with a `router` and a context manager `opened(settings)`, which runs for the life of the
    process. The dictionary that `opened` yields becomes part of `request.state`.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[dict[str, Any]]:
        current_default_thread_limiter().total_tokens = settings.threadpool_tokens
        state: dict[str, Any] = {}
        async with AsyncExitStack() as stack:
            for experiment in EXPERIMENTS:
                state |= await stack.enter_async_context(experiment.opened(settings))
            yield state

    app = FastAPI(title="The lab", lifespan=lifespan, exception_handlers={LabUnavailable: unavailable})
    for experiment in EXPERIMENTS:
        app.include_router(experiment.router)
    add_middleware(app, settings.middleware)
    if settings.request_overhead_ms:
        app.add_middleware(Overhead, seconds=settings.request_overhead_ms / 1000)
    app.add_middleware(CountThreads)
    return app


def from_environment() -> FastAPI:
    """Creates the application from environment variables. uvicorn's workers find this function by its import string."""
    return create_app(load_lab_settings())
