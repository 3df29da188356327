"""The pytest plugin: a test with the mark or fixture `no_blocking` fails if a line of the user blocks an event loop.

    @pytest.mark.no_blocking(limit=0.05)
    async def test_order(client): ...

    async def test_order(client, no_blocking): ...  # uses the limit of the option `no_blocking_limit`

The option `no_blocking = true` has this effect on all tests except those with the mark `allow_blocking`. Blocks in
fixtures do not count. A line that `[tool.asgi-doctor]` allows to block does not fail a test.
"""

import inspect
from collections.abc import Generator
from typing import Any

import pytest

from asgi_doctor import configuration, loops
from asgi_doctor.configuration import Permitted
from asgi_doctor.errors import DoctorError
from asgi_doctor.guard import NoBlocking
from asgi_doctor.watchdog import allowed_limit

_MARK, _ALLOWED = "no_blocking", "allow_blocking"
_PERMITTED = pytest.StashKey[Permitted]()
_HIDDEN = pytest.StashKey[set[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(_MARK, "Fail each test in which a line blocks the event loop.", type="bool", default=False)
    parser.addini("no_blocking_limit", "Seconds for which a line may block the event loop.", default="0.05")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"{_MARK}(limit): fail if a line blocks the event loop for longer (seconds)")
    config.addinivalue_line("markers", f"{_ALLOWED}: lines may block the event loop")
    config.stash[_HIDDEN] = set()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in filter(_wanted, items):
        _limit(item)
        loops.observe()
    try:
        configured = configuration.read(config.rootpath)
        config.stash[_PERMITTED] = Permitted(configured.allow, configuration.known_findings(configured.baseline))
    except DoctorError as error:
        raise pytest.UsageError(str(error)) from None


@pytest.fixture
def no_blocking(request: pytest.FixtureRequest) -> NoBlocking:
    """Fails the test if a line blocks an event loop for longer than the limit, except in `no_blocking.allowed()`."""
    return _watching(request.node)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    if not _wanted(item):
        yield
        return
    watched: NoBlocking = getattr(item, "funcargs", {}).get(_MARK) or _watching(item)
    watched.start()
    try:
        outcome = yield
    finally:
        watched.stop()
    item.config.stash[_HIDDEN] |= {one.place for one in watched.blocks} - {one.place for one in watched.findings}
    asynchronous = inspect.iscoroutinefunction(inspect.unwrap(getattr(item, "obj", _wanted)))
    failure = watched.failure(unwatched=asynchronous or _named(item))
    if outcome.excinfo is None and failure:
        outcome.force_exception(pytest.fail.Exception(failure, pytrace=False))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if hidden := config.stash[_HIDDEN]:
        terminalreporter.write_line(f"no_blocking: allowed or in the baseline: {', '.join(sorted(hidden))}")


def _watching(item: pytest.Item) -> NoBlocking:
    return NoBlocking(_limit(item), item.config.stash[_PERMITTED])


def _wanted(item: pytest.Item) -> bool:
    closest = next((mark.name for mark in item.iter_markers() if mark.name in {_MARK, _ALLOWED}), None)
    return closest != _ALLOWED and (_named(item) or bool(item.config.getini(_MARK)))


def _named(item: pytest.Item) -> bool:
    """Returns whether the test has the mark or the fixture `no_blocking`."""
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
