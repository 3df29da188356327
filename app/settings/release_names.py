"""Lists the releases, of which APP_RELEASE selects one, and reads the facts that each release's module states."""

import ast
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

_MODULES = Path(__file__).parents[1] / "web" / "releases"
# The facts that a release's module may state about the release, with their defaults.
FACTS: dict[str, Any] = {
    "VERSION": None,  # the version in CHANGELOG.md
    "ENQUEUES": True,  # True: the release sends events to SQS; False: it does the billing work itself
    "CLIENT": None,  # the SQS client: see `Release.client`
    "TOKENS": None,  # maximum threads for blocking work; None if the release needs no threads
    "CONNECTIONS": None,  # connections in the pool of the AWS SDK's client; None if the release has no pool
    "SERVER": "uvicorn",  # or `ours`: this project's server, which calls the module's `receive` without ASGI
}


class Release(StrEnum):
    """A release, named after its module in `app.web.releases`. The part before `_`, such as `v03`, is also valid."""

    V01_INLINE = "v01_inline"
    V02_BLOCKING = "v02_blocking"
    V03_THREADPOOL = "v03_threadpool"
    V04_MORE_TOKENS = "v04_more_tokens"
    V05_ASYNC_DEPENDENCY = "v05_async_dependency"
    V06_SHARED_QUEUE = "v06_shared_queue"
    V07_SYNC_HANDLER = "v07_sync_handler"
    V08_NATIVE_ASYNC = "v08_native_async"
    V09_GROUP_COMMIT = "v09_group_commit"
    V10_LEAN_CLIENT = "v10_lean_client"
    V11_WITHOUT_ASGI = "v11_without_asgi"
    V12_LEAN_MODEL = "v12_lean_model"

    @classmethod
    def _missing_(cls, value: object) -> "Release | None":
        return next((release for release in cls if release.value.partition("_")[0] == value), None)

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The release's facts by name. Reads them from the source, because an import would load many libraries."""
        found = dict(FACTS)
        for node in ast.parse((_MODULES / f"{self.value}.py").read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and isinstance(name := node.targets[0], ast.Name) and name.id in FACTS:
                found[name.id] = ast.literal_eval(node.value)
        return found

    @property
    def version(self) -> str:
        """The version of this release in CHANGELOG.md, for example 0.1.0 for v01."""
        return str(self.facts["VERSION"])

    @property
    def enqueues(self) -> bool:
        """True if the release sends events to SQS before it answers 200. v01 does the billing work instead."""
        return bool(self.facts["ENQUEUES"])

    @property
    def accepted(self) -> str:
        """The `status` in the body of a 200 if the event is not ignored: `queued`, or `processed` for v01."""
        return "queued" if self.enqueues else "processed"

    @property
    def published(self) -> bool:
        """True for v01 to v07, which reconstruct the service of a published talk. Only these releases need threads."""
        return self.facts["TOKENS"] is not None

    @property
    def client(self) -> str | None:
        """The kind of SQS client, or None for v01, which does not call SQS.

        `per request`: each request builds a client of the AWS SDK. `shared`: all requests share one client of the AWS
        SDK. `lean`: all requests share this project's own client.
        """
        client: str | None = self.facts["CLIENT"]
        return client

    @property
    def needs_asgi(self) -> bool:
        """True if the release is an ASGI application, which uvicorn serves."""
        return bool(self.facts["SERVER"] == "uvicorn")


NEWEST = list(Release)[-1]
