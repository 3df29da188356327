"""A gate that profiles webhooks (APP_PROFILE), for a release whose webhooks do not pass an ASGI middleware."""

from pathlib import Path
from typing import Any

from app.telemetry.profiling import CallbackProfiling
from app.telemetry.record import WebhookRecord
from app.web.gate.gate import Fields, Gate


class ProfiledGate(Gate):
    """Profiles one webhook at a time, from its head to its response."""

    def __init__(self, *arguments: Any, folder: Path) -> None:
        super().__init__(*arguments)
        self._profiling = CallbackProfiling(folder)

    def begin(self, fields: Fields) -> WebhookRecord:
        record = super().begin(fields)
        self._profiling.begin(record)
        return record

    def end(self, record: WebhookRecord) -> None:
        super().end(record)
        self._profiling.end(record)
