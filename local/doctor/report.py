"""Formats the findings of `asgi_doctor` as lines of text."""

import linecache
from collections.abc import Callable, Iterator

from app.settings import Release
from asgi_doctor.findings import BlockedLocation
from asgi_doctor.stacks import Location, Stack, short
from asgi_doctor.tokens import Tokens
from local.doctor import cures
from local.doctor.cures import Cure


def found(location: Location, stack: Stack, seconds: float) -> str:
    """Returns the message to print while the line at `location` still blocks the event loop.

    `seconds` is the time for which the line has blocked the event loop so far.
    """
    return f"blocked for {seconds:.2f} s so far: {short(stack)}\n    {_source(location)}"


def waiting(limit: float) -> str:
    """Returns the message to print when a call has to wait for the first time, because all `limit` threads are busy."""
    return f"all {limit:g} threads are in use, and calls wait for a thread"


def summary(
    places: list[BlockedLocation], tokens: Tokens, requests: int, warn: float, change: Callable[[Release], str]
) -> Iterator[str]:
    """Yields the lines of the summary: which places in the code blocked the event loop, and how to fix that.

    The place that blocked for the longest total time is first. The event loop counts as blocked after `warn` seconds.
    If calls waited for a thread, the summary says so. `change` returns a sentence about what a release changes.
    """
    blocked = f"{len(places)} {'place' if len(places) == 1 else 'places'} blocked the event loop for more than"
    yield f"{requests} {'request' if requests == 1 else 'requests'}; {blocked} {warn * 1000:g} ms"
    for one in sorted(places, key=lambda one: -one.seconds):
        times = "once" if one.times == 1 else f"{one.times} times"
        yield f"\n{one.location}: {times}, {one.seconds:.2f} s, longest {one.longest:.2f} s"
        yield f"    {_source(one.location)}"
        yield from _cure(cures.cure(one), change)
    if tokens.most:
        yield f"\nall {tokens.limit:g} threads were in use for {tokens.seconds:.1f} s, and {tokens.most} calls waited"
        yield from _cure(cures.TOKENS, change)


def _cure(cure: Cure, change: Callable[[Release], str]) -> Iterator[str]:
    yield f"    {cure.fault}"
    yield from (f"    → {release.value}: {change(release)}" for release in cure.releases)


def _source(location: Location) -> str:
    return linecache.getline(location.file, location.line).strip()
