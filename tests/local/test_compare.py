"""Tests that timelines of real releases show what waits for what."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from app.errors import ConfigurationError
from app.settings import Release, load_settings
from local.cli.compare import compare
from local.compare import rows, state_spans, terminal
from local.compare.recording import Recording, record
from local.compare.rows import groups, total
from local.compare.state_spans import StateSpan, TimelineRow, merged
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


@pytest.mark.slow
def test_the_work_in_the_handler(recorded: Callable[..., Recording]) -> None:
    """v01: the event loop waits for Chargebee, and for DynamoDB, for one webhook after the other."""
    one = recorded(Release.V01_INLINE, APP_LOCAL_CHARGEBEE_DELAY=str(DELAY))
    assert one.statuses == {200: WEBHOOKS}
    assert _seconds(one, "event loop", State.CHARGEBEE) > 2 * WEBHOOKS * DELAY
    assert _seconds(one, "event loop", State.TABLE) > WEBHOOKS * DELAY
    assert _seconds(one, "event loop", State.SQS) == 0


@pytest.mark.slow
def test_threads_wait_instead(recorded: Callable[..., Recording]) -> None:
    """v03: threads wait for SQS, at the same time, and the loop does not."""
    one = recorded(Release.V03_THREADPOOL)
    assert _seconds(one, "event loop", State.SQS) == 0
    # Each webhook calls two functions in threads; the second may start before the thread of the first is free again.
    assert 1 < len(_of(one, "threads")) <= 2 * WEBHOOKS
    assert _seconds(one, "threads", State.SQS) > WEBHOOKS * DELAY
    assert _seconds(one, "webhooks", State.THREAD) > WEBHOOKS * DELAY


@pytest.mark.slow
def test_waiting_for_a_token(recorded: Callable[..., Recording]) -> None:
    """If there are two tokens, four of six webhooks wait for one."""
    one = recorded(Release.V07_SYNC_HANDLER, APP_THREADPOOL_TOKENS="2")
    assert _seconds(one, "webhooks", State.TOKEN) > (WEBHOOKS - 2) * DELAY


@pytest.mark.slow
def test_a_new_connection_loads_the_bundle(recorded: Callable[..., Recording]) -> None:
    """A new connection over TLS loads the CAs. Building a client is visible, too."""
    one = recorded(Release.V05_ASYNC_DEPENDENCY, APP_LOCAL_TLS="1")
    assert _seconds(one, "event loop", State.CAS) > 0
    assert _seconds(one, "event loop", State.CLIENT) > 0


@pytest.mark.slow
def test_batches(recorded: Callable[..., Recording]) -> None:
    """v09: no thread works; calls have several webhooks each, which wait in a batch.

    The first call takes two seconds, so that all webhooks have arrived before it ends.
    """
    one = recorded(Release.V09_GROUP_COMMIT, APP_SQS_BATCHES="1", APP_LOCAL_SQS_DELAY=str(20 * DELAY))
    assert not _of(one, "threads")
    assert _seconds(one, "webhooks", State.BATCH) > DELAY
    assert len(_of(one, "calls to SQS")) == 2  # what was there first, and then all others
    assert sum(int(row.name.rpartition(" ")[2]) for row in one.rows if row.kind == "call") == WEBHOOKS


@pytest.mark.slow
def test_text_and_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command shows every release, and writes an SVG whose titles name the states."""
    for name in ("APP_RELEASE", TIMELINE):  # restored at the end, as the command sets them
        monkeypatch.setenv(name, "")
    file = tmp_path / "both.svg"
    monkeypatch.setenv("APP_LOCAL_SQS_DELAY", str(DELAY))
    monkeypatch.delenv("APP_RELEASE")
    monkeypatch.delenv(TIMELINE)
    batched = "v09,APP_SQS_BATCHES=1"
    ended = CliRunner().invoke(compare, ["v02", batched, "--count", "3", "--svg", str(file)], catch_exceptions=False)
    assert ended.exit_code == 0, ended.output
    named = "v09_group_commit, APP_SQS_BATCHES=1: 200: 3"
    for words in ("v02_blocking: 200: 3", named, "event loop blocked", "· waiting for SQS"):
        assert words in ended.output
    drawn = ET.parse(file)  # noqa: S314  # ours
    titles = [title.text or "" for title in drawn.iter("{http://www.w3.org/2000/svg}title")]
    assert any(title.startswith("waiting for SQS") for title in titles)


@pytest.mark.parametrize("given", [None, "0.03"])
def test_the_queue_is_slow_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch, given: str | None) -> None:
    """The command and its help name the delay, and v02's loop is blocked for it."""
    monkeypatch.setenv("APP_LOCAL_SQS_DELAY", given or "")
    monkeypatch.setenv("APP_MAX_WAIT", "0")
    ended = CliRunner().invoke(compare, ["v02", "--count", "5"], catch_exceptions=False)
    assert ended.exit_code == 0, ended.output
    delay = float(given or DELAY)
    assert f"Each call to SQS takes {delay * 1000:g} ms longer (APP_LOCAL_SQS_DELAY={delay:g})." in ended.output
    [blocked] = re.findall(r"event loop blocked for (\S+) s", ended.output)
    assert float(blocked) > 2 * delay  # of five or more: the loop is looked at now and then
    assert "Each call to SQS takes 100 ms longer" in " ".join(CliRunner().invoke(compare, ["--help"]).output.split())


def test_a_wrong_variable_is_named() -> None:
    """Only APP_NAME=VALUE may follow a release's name."""
    with pytest.raises(ConfigurationError, match="PATH=x after v02: allowed is APP_NAME=VALUE"):
        CliRunner().invoke(compare, ["v02,PATH=x"], catch_exceptions=False)


def test_stacks_in_one_state_are_one_span() -> None:
    """Only adjacent spans are joined."""
    spans = [(0, 1, State.RUNNING), (1, 2, State.RUNNING), (2, 3, State.IDLE), (4, 5, State.IDLE)]
    assert merged(StateSpan(*span) for span in spans) == [(0, 2, State.RUNNING), (2, 3, State.IDLE), (4, 5, State.IDLE)]


def test_a_column_has_its_longest_state() -> None:
    """A column shows the longest state, or none if there is no span."""
    spans = [StateSpan(0, 1, State.IDLE), StateSpan(1, 1.2, State.RUNNING), StateSpan(1.2, 3, State.SQS)]
    assert terminal._columns(spans, 1, 4) == [State.IDLE, State.SQS, State.SQS, None]
    assert rows.total(spans, State.SQS, State.IDLE) == pytest.approx(2.8)


def test_a_service_that_is_killed_before_its_timeline(
    recorded: Callable[..., Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says what to change. The service has made the file at its start."""

    def empty(_: Path) -> list[TimelineRow]:
        raise json.JSONDecodeError("Expecting value", "", 0)

    monkeypatch.setattr(state_spans, "read", empty)
    with pytest.raises(ConfigurationError, match=r"v08_native_async: .*: use fewer webhooks \(--count\)"):
        recorded(Release.V08_NATIVE_ASYNC)
