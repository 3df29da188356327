"""The optimisation history: one lesson a file, one of them chosen at the start by APP_RELEASE.

A release is a module with `lifespan(app)`, which opens what it needs and yields the state, if any, that its
handler reads from `request.state`, and `receive(…)`, the handler. One with `BARE = True` has a handler that takes the
request and returns a Response, and is called without FastAPI's machinery. Releases do not import each other.
"""

from contextlib import AbstractAsyncContextManager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from app.settings import Release

if TYPE_CHECKING:  # showing the releases as texts needs no FastAPI
    from fastapi import FastAPI


class ReleaseModule(Protocol):
    """What a release exports."""

    def lifespan(self, app: "FastAPI") -> AbstractAsyncContextManager[Any]: ...

    def receive(self, *args: Any, **kwargs: Any) -> Any: ...


def load(release: Release) -> ReleaseModule:
    """Imports the chosen release and no other: what a release does not use costs it nothing."""
    return cast(ReleaseModule, import_module(f"{__name__}.{release.value}"))
