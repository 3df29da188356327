"""Pytest's plugin: a test with the mark or the fixture fails if a line of the user blocks an event loop meanwhile.

    @pytest.mark.no_blocking(limit=0.05)
    async def test_order(client): ...

    async def test_order(client, no_blocking): ...  # the same with the limit of the option `no_blocking_limit`

It watches every loop that runs during the test, in any thread: anyio's, pytest-asyncio's, Starlette's TestClient.
"""

from collections.abc import Generator
from typing import Any

import pytest

from asgi_doctor import loops
from asgi_doctor.finding import Finding, Kind
from asgi_doctor.loops import RunningLoop
from asgi_doctor.watchdog import Watchdog, allowed_limit

_MARK = "no_blocking"
_BLOCKS = {Kind.WAITS, Kind.COMPUTES, Kind.BUILDS, Kind.COLLECTS}


class NoBlocking:
    """The value of the fixture. `findings`: the user's lines that have blocked a loop for more than `limit` seconds."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self._watchdogs: dict[RunningLoop, Watchdog] = {}
        self._ended: list[Watchdog] = []

    @property
    def findings(self) -> list[Finding]:
        found = [finding for watchdog in [*self._ended, *self._watchdogs.values()] for finding in watchdog.findings]
        return [finding for finding in found if finding.kind in _BLOCKS and finding.in_app]

    def start(self) -> None:
        loops.listeners.append(self._changed)
        for loop in list(loops.running):
            self._changed(loop, starts=True)

    def stop(self) -> None:
        loops.listeners.remove(self._changed)
        for loop in list(self._watchdogs):
            self._changed(loop, starts=False)

    def report(self) -> str:
        """Returns the findings as text: line, calls to the library, seconds and cure."""
        return "\n\n".join(_text(finding, self.limit) for finding in self.findings)

    def _changed(self, running: RunningLoop, starts: bool) -> None:
        if starts:
            self._watchdogs[running] = Watchdog(self.limit).start(*running)
        elif (watchdog := self._watchdogs.pop(running, None)) is not None:
            watchdog.stop()
            self._ended.append(watchdog)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("no_blocking_limit", "Seconds for which a line may block the event loop.", default="0.05")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"{_MARK}(limit): fail if a line blocks the event loop for longer (seconds)")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in filter(_wanted, items):
        _limit(item)
        loops.observe()


@pytest.fixture
def no_blocking(request: pytest.FixtureRequest) -> NoBlocking:
    """Fails the test if a line blocks an event loop for longer than the limit."""
    return NoBlocking(_limit(request.node))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    if not _wanted(item):
        yield
        return
    watched: NoBlocking = getattr(item, "funcargs", {}).get(_MARK) or NoBlocking(_limit(item))
    watched.start()
    try:
        outcome = yield
    finally:
        watched.stop()
    if outcome.excinfo is None and watched.findings:
        outcome.force_exception(pytest.fail.Exception(watched.report(), pytrace=False))


def _wanted(item: pytest.Item) -> bool:
    return item.get_closest_marker(_MARK) is not None or _MARK in getattr(item, "fixturenames", ())


def _limit(item: pytest.Item) -> float:
    default = item.config.getini("no_blocking_limit")

    def given(limit: Any = default) -> float:
        return allowed_limit(float(limit))

    mark = item.get_closest_marker(_MARK)
    try:
        return given(*mark.args, **mark.kwargs) if mark is not None else given()
    except (TypeError, ValueError) as error:
        raise pytest.UsageError(f"{item.nodeid}: {_MARK}(limit=SECONDS): {error}") from None


def _text(finding: Finding, limit: float) -> str:
    route = f"{finding.route}: " if finding.route else ""
    calls = "".join(f"\n      → {call}" for call in finding.chain[1:])
    return (
        f"{route}{finding.place} blocked the event loop for {finding.longest:.2f} s (limit {limit:g} s)\n"
        f"    {finding.source}{calls}\n    {finding.kind.value}; cure: {finding.cure.advice}"
    )
