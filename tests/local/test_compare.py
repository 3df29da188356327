"""Tests that timelines of real releases show what waits for what."""

from collections.abc import Callable

import pytest

from app.settings import Release, load_settings
from local.compare import compared_rows, compared_terminal
from local.compare.compared_rows import groups, total
from local.compare.recording import Recording, record
from local.compare.state_spans import StateSpan, merged
from profiles.instruments import TIMELINE
from profiles.instruments.functions import State

WEBHOOKS = 6
DELAY = 0.1


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Callable[[Release], Recording]:
    monkeypatch.setenv("APP_LOCAL_SQS_DELAY", str(DELAY))
    monkeypatch.setenv("APP_MAX_WAIT", "0")

    def of(release: Release, **variables: str) -> Recording:
        monkeypatch.setenv("APP_RELEASE", release.value)  # restored at the end, as `record` sets them
        monkeypatch.setenv(TIMELINE, "")
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        return record(release, load_settings(), WEBHOOKS)

    return of


def _of(one: Recording, title: str) -> list[list[StateSpan]]:
    return next((group.rows for group in groups(one) if group.title == title), [])


def _seconds(one: Recording, title: str, *states: State) -> float:
    return sum(total(row, *states) for row in _of(one, title))


def test_a_blocked_loop(recorded: Callable[..., Recording]) -> None:
    """v02: the event loop itself waits for SQS, for one webhook after the other; the others wait for their turn."""
    one = recorded(Release.V02_BLOCKING)
    assert one.statuses == {200: WEBHOOKS}
    assert _seconds(one, "event loop", State.SQS) > WEBHOOKS * DELAY / 2  # the loop is looked at now and then
    assert _seconds(one, "webhooks", State.TURN) > WEBHOOKS * DELAY


def test_stacks_in_one_state_are_one_span() -> None:
    """Only adjacent spans are joined."""
    spans = [(0, 1, State.RUNNING), (1, 2, State.RUNNING), (2, 3, State.IDLE), (4, 5, State.IDLE)]
    assert merged(StateSpan(*span) for span in spans) == [(0, 2, State.RUNNING), (2, 3, State.IDLE), (4, 5, State.IDLE)]


def test_a_column_has_its_longest_state() -> None:
    """A column shows the longest state, or none if there is no span."""
    spans = [StateSpan(0, 1, State.IDLE), StateSpan(1, 1.2, State.RUNNING), StateSpan(1.2, 3, State.SQS)]
    assert compared_terminal._columns(spans, 1, 4) == [State.IDLE, State.SQS, State.SQS, None]
    assert compared_rows.total(spans, State.SQS, State.IDLE) == pytest.approx(2.8)
