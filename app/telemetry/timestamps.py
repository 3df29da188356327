"""The current time as text, for log lines and messages."""

import time
from datetime import datetime, tzinfo


class Timestamps:
    """Formats the current time in ISO 8601, with milliseconds. `zone`: the time zone, or None for the local one.

    Formatting a date is slow, so the date and the time are formatted once per second, and the milliseconds each time.
    """

    def __init__(self, zone: tzinfo | None = None) -> None:
        self._zone = zone
        self._second = (0, "", "")  # the current second since the epoch, its date and time, and its UTC offset

    def now(self) -> str:
        now = time.time()
        second, text, offset = self._second
        if second != int(now):
            second = int(now)
            whole = datetime.fromtimestamp(second, self._zone).astimezone(self._zone).isoformat()
            text, offset = whole[:19], whole[19:]
            self._second = (second, text, offset)
        return f"{text}.{int((now - second) * 1000):03d}{offset}"
