"""The optimisation history: each file is one release with one lesson. APP_RELEASE selects the release at the start.

A release is a module with `lifespan(service)` and `receive(…)`. The lifespan opens what the release needs, and yields
the state, if any, that the handler reads from `request.state`. `receive` is the handler. If the module has
`BARE = True`, its handler takes the request, returns a Response, and is called without FastAPI. Releases do not import
each other.
"""

from contextlib import AbstractAsyncContextManager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from app.settings import Release

if TYPE_CHECKING:  # so that code which only shows the releases needs no FastAPI
    from app.web.service import Service


class ReleaseModule(Protocol):
    """The interface of a release."""

    def lifespan(self, service: "Service") -> AbstractAsyncContextManager[Any]: ...

    def receive(self, *args: Any, **kwargs: Any) -> Any: ...


def load(release: Release) -> ReleaseModule:
    """Imports the chosen release alone, so that no release pays for the imports of another."""
    return cast(ReleaseModule, import_module(f"{__name__}.{release.value}"))
