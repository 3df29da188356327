"""Log lines that are written many at a time equal the lines that loguru writes."""

import asyncio
import json
from datetime import UTC, datetime, tzinfo
from types import SimpleNamespace

import pytest

from app.events import Event
from app.settings import WebSettings
from app.telemetry import timestamps
from app.telemetry.lines import MOST_LINES, WebhookLines
from app.telemetry.logging import configure_logging, log_webhook
from app.telemetry.record import WebhookRecord
from app.telemetry.timestamps import Timestamps

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("undone")]


def _queued(event: Event) -> WebhookRecord:
    return WebhookRecord(began=1.0, outcome="queued", answered=1.25, event=event)


@pytest.fixture
def parsed(event: bytes) -> Event:
    return Event.model_validate_json(event)


async def test_the_same_line(parsed: Event, capsys: pytest.CaptureFixture[str]) -> None:
    """The lines have the same fields in the same order, with the local time to the millisecond."""
    settings = WebSettings(log_format="json")
    configure_logging(settings)
    log_webhook(_queued(parsed))
    lines = WebhookLines(settings)
    lines.log(_queued(parsed))
    lines.flush()
    theirs, ours = (json.loads(line) for line in capsys.readouterr().err.splitlines())
    assert list(ours) == list(theirs)
    times = [datetime.fromisoformat(line.pop("time")) for line in (theirs, ours)]
    assert times[0].utcoffset() == times[1].utcoffset()
    assert abs((times[1] - times[0]).total_seconds()) < 60
    assert ours == theirs


async def test_written_together(parsed: Event, capsys: pytest.CaptureFixture[str]) -> None:
    """Lines are written at MOST_LINES, or after a moment; each line is written once."""
    settings = WebSettings(log_format="json")
    configure_logging(settings)
    lines = WebhookLines(settings)
    for _ in range(MOST_LINES - 1):
        lines.log(_queued(parsed))
    assert capsys.readouterr().err == ""
    lines.log(_queued(parsed))
    assert capsys.readouterr().err.count("\n") == MOST_LINES
    lines.log(_queued(parsed))
    written = ""
    async with asyncio.timeout(10):
        while not written:
            await asyncio.sleep(0.01)
            written = capsys.readouterr().err
    assert written.count("\n") == 1


def test_two_threads_in_a_new_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that asks for the time while another one formats a new second does not get the previous second."""
    stamps, seen = Timestamps(UTC), list[str]()
    monkeypatch.setattr(timestamps, "time", SimpleNamespace(time=lambda: 1_800_000_000.5))
    assert stamps.now() == "2027-01-15T08:00:00.500+00:00"

    class Interrupted(datetime):
        @classmethod
        def fromtimestamp(cls, timestamp: float, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            if not seen:
                seen.append("now")
                seen[0] = stamps.now()  # as another thread would
            return datetime.fromtimestamp(timestamp, tz)

    monkeypatch.setattr(timestamps, "time", SimpleNamespace(time=lambda: 1_800_003_600.5))
    monkeypatch.setattr(timestamps, "datetime", Interrupted)
    assert [stamps.now(), *seen] == ["2027-01-15T09:00:00.500+00:00"] * 2


async def test_what_goes_wrong_is_logged_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    """loguru logs failures at once, as warnings."""
    settings = WebSettings(log_format="json")
    configure_logging(settings)
    WebhookLines(settings).log(WebhookRecord(began=1.0, outcome="overloaded", status=503, answered=1.1))
    line = json.loads(capsys.readouterr().err)
    assert (line["level"], line["outcome"], line["status"]) == ("WARNING", "overloaded", 503)


@pytest.mark.parametrize(("level", "log_format", "number"), [("WARNING", "json", 0), ("INFO", "text", 1)])
async def test_level_and_format(
    parsed: Event, capsys: pytest.CaptureFixture[str], level: str, log_format: str, number: int
) -> None:
    """APP_LOG_LEVEL and APP_LOG_FORMAT apply to these lines, too."""
    settings = WebSettings.model_validate({"log_level": level, "log_format": log_format})
    configure_logging(settings)
    lines = WebhookLines(settings)
    lines.log(_queued(parsed))
    lines.flush()
    written = capsys.readouterr().err
    assert written.count("webhook queued") == number
    assert "{" not in written
