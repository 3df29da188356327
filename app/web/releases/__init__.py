"""The history of the service's optimisation. Each module is a release: the webhook's handler after one change.

APP_RELEASE selects the release when the process starts. A release defines `lifespan(service)` and `receive(…)`. The
lifespan opens clients, for example of SQS, and may yield state that the handler reads from `request.state`. `receive`
is the handler. If the module defines `WITHOUT_ASGI = True`, the server's protocol calls the handler with a `Webhook`
when the body is complete. Releases do not import each other.
"""

from contextlib import AbstractAsyncContextManager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from app.settings import Release

if TYPE_CHECKING:
    from app.web.service import Service


class ReleaseModule(Protocol):
    """The functions that the module of each release defines."""

    def lifespan(self, service: "Service") -> AbstractAsyncContextManager[Any]: ...

    def receive(self, *args: Any, **kwargs: Any) -> Any: ...


def load(release: Release) -> ReleaseModule:
    """Imports the module of `release` and no other release, so that the process loads no library without need."""
    return cast(ReleaseModule, import_module(f"{__name__}.{release.value}"))
