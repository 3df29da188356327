"""The history of the service's optimisation. Each module is a release: the webhook's handler after one more change.

APP_RELEASE selects the release when the process starts. The `lifespan` of a release opens clients, for example of SQS,
and may yield state that the handler reads from `request.state`. The release's `router` contains the handler, which is
named `receive`, as a route of FastAPI. A release with `SERVER = "ours"` has no router: this project's server calls the
handler with a `Webhook` when the body is complete. Constants such as TOKENS are facts about the release;
`app.settings.release_names` describes these constants. Releases do not import each other.
"""

from importlib import import_module
from types import ModuleType

from app.settings import Release


def load(release: Release) -> ModuleType:
    """Imports the module of `release` and no other release, so that the process loads only the libraries it needs."""
    return import_module(f"{__name__}.{release.value}")
