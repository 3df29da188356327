"""Reads the releases' source code: the change that a release's docstring describes, and the diff of two releases.

This module reads the files and does not import them. An import would also load FastAPI and the release's clients.
"""

import ast
import difflib
from pathlib import Path
from typing import NamedTuple

from app.errors import ConfigurationError
from app.settings import Release

_RELEASES = Path(__file__).parents[1] / "app" / "web" / "releases"
# Short names of the changes that the published talk and blog post (CHANGELOG.md, Sources) describe.
KNOWN_AS: dict[Release, str] = {
    Release.V02_BLOCKING: "blocking producer",
    Release.V03_THREADPOOL: "run_in_threadpool",
    Release.V04_MORE_TOKENS: "limiter tokens",
    Release.V06_SHARED_QUEUE: "singleton queue",
    Release.V07_SYNC_HANDLER: "sync handler with async body dependency",
}


class Step(NamedTuple):
    """A step of the history in a few words: the fault of the previous release, and the change of this release.

    `page` is the page of docs/questions about the same fault in other services, if there is one.
    """

    wrong: str
    change: str
    page: str | None = None


STEPS: dict[Release, Step] = {
    Release.V02_BLOCKING: Step("the handler does all the work; senders wait", "enqueue; a worker does it later"),
    Release.V03_THREADPOOL: Step("a blocking call stops the event loop", "call it in a thread", "blocking"),
    Release.V04_MORE_TOKENS: Step("all forty default threads are in use", "allow a hundred", "tokens"),
    Release.V05_ASYNC_DEPENDENCY: Step(
        "a dependency occupies a thread", "a mistake: `async def` blocks the loop", "def_or_async_def"
    ),
    Release.V06_SHARED_QUEUE: Step(
        "each request builds a client and connects", "one client for the process", "shared_client"
    ),
    Release.V07_SYNC_HANDLER: Step("one blocking line stops the loop", "a `def` handler; 200 threads"),
    Release.V08_NATIVE_ASYNC: Step("each waiting webhook occupies a thread", "an async client; 64 connections"),
    Release.V09_GROUP_COMMIT: Step(
        "each webhook costs a call to SQS", "up to ten share a call", "one_call_per_request"
    ),
    Release.V10_LEAN_CLIENT: Step("an AWS client for everything computes too much", "a single-purpose client"),
    Release.V11_WITHOUT_ASGI: Step("FastAPI's layers cost more than the work", "the server calls a plain function"),
    Release.V12_LEAN_MODEL: Step("pydantic builds fields that nobody reads", "msgspec reads what is needed"),
}
# The reason why webhooks wait in v03 and v04, although their `receive` never blocks the event loop.
_BUSY_THREADS = (
    "for each webhook, a thread builds a client (over TLS, it also loads the CA bundle). Building computes, and the"
    " threads and the event loop share one interpreter lock, so only one of them at a time runs Python code. Without a"
    " free thread token, a webhook waits before its thread starts."
)
WAITS: dict[Release, str] = {Release.V03_THREADPOOL: _BUSY_THREADS, Release.V04_MORE_TOKENS: _BUSY_THREADS}


def find(name: str) -> Release:
    """Returns the release called `name`, such as `v03` or `v03_threadpool`.

    Raises ConfigurationError if no release has this name.
    """
    try:
        return Release(name)
    except ValueError:
        raise ConfigurationError(f"{name} is not a release: allowed are {', '.join(Release)}") from None


def change(release: Release) -> str:
    """Returns the `Change:` section of the release's docstring."""
    return " ".join(_docstring(release).partition("Change: ")[2].partition("\nCost:")[0].split())


def cost(release: Release) -> str:
    """Returns the `Cost:` section of the release's docstring."""
    return " ".join(_docstring(release).partition("\nCost: ")[2].partition("\n\n")[0].split())


def diff(old: Release, new: Release) -> list[str]:
    """Returns the unified diff of two releases' code, without the docstrings."""
    before, after = (code(release) for release in (old, new))
    return list(difflib.unified_diff(before, after, f"{old.value}.py", f"{new.value}.py", lineterm="", n=2))


def code(release: Release) -> list[str]:
    """Returns the lines of the release's source code, without the module's docstring."""
    source = _source(release)
    docstring = ast.parse(source).body[0]
    return source.splitlines()[docstring.end_lineno or 0 :]


def _docstring(release: Release) -> str:
    return ast.get_docstring(ast.parse(_source(release))) or ""


def _source(release: Release) -> str:
    return (_RELEASES / f"{release.value}.py").read_text(encoding="utf-8")
