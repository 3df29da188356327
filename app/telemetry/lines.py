"""Collects the log lines of webhooks, and writes many together, because loguru takes 17 µs and a system call per line.

loguru still writes the lines of failed webhooks, without delay. If SIGKILL ends the process, the waiting lines, which
are at most FLUSH_SECONDS old, are lost. The lines that `app.telemetry.stderr` has not written yet are lost as well.
"""

import asyncio
import atexit
import sys

import orjson

from app.settings import ProcessSettings
from app.telemetry.fields import compiled_line, log_fields
from app.telemetry.logging import as_json, log_webhook
from app.telemetry.record import UNANSWERED, WebhookRecord
from app.telemetry.timestamps import Timestamps

FLUSH_SECONDS = 0.1
MOST_LINES = 64
_usual_line = compiled_line(WebhookRecord, "webhook")


class WebhookLines:
    """Writes the same lines as `log_webhook`, but many together. When the process exits, writes all waiting lines.

    Call `log` in the event loop's thread only.
    """

    def __init__(self, settings: ProcessSettings) -> None:
        self._lines: list[str] = []
        self._flushing: asyncio.TimerHandle | None = None
        self._timestamps = Timestamps()
        self._by_loguru = not as_json(settings) or settings.log_level not in ("DEBUG", "INFO")
        atexit.register(self.flush)

    def log(self, record: WebhookRecord) -> None:
        """Adds the line of `record`. Writes all lines after FLUSH_SECONDS, or as soon as MOST_LINES are waiting."""
        if self._by_loguru or record.status is not None or record.outcome == UNANSWERED:
            log_webhook(record)
            return
        self._lines.append(_line(record, self._timestamps.now()))
        if len(self._lines) >= MOST_LINES:
            self.flush()
        elif self._flushing is None:
            self._flushing = asyncio.get_running_loop().call_later(FLUSH_SECONDS, self.flush)

    def flush(self) -> None:
        """Writes all waiting lines."""
        if self._flushing is not None:
            self._flushing.cancel()
            self._flushing = None
        lines, self._lines = self._lines, []
        if lines:
            sys.stderr.write("".join(lines))
            sys.stderr.flush()


def _line(record: WebhookRecord, now: str) -> str:
    """Returns the line of `record`, with the same fields as the line that `log_webhook` writes."""
    if (usual := _usual_line(record, now)) is not None:
        return usual
    line = {"time": now, "level": "INFO", "message": f"webhook {record.outcome}", **log_fields(record)}
    return orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE).decode()
