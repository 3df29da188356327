"""The current time as text, for log lines and messages."""

import time
from datetime import datetime, tzinfo


class Timestamps:
    """Formats the current time in ISO 8601, with milliseconds. `zone`: the time zone, or None for the local one.

    Formatting a date is slow, so the date and the time are formatted once per second, and the milliseconds each time.
    """

    def __init__(self, zone: tzinfo | None = None) -> None:
        self._zone = zone
        self._second = 0  # the second since the epoch for which `_text` and `_offset` are valid
        self._text = self._offset = ""  # its date and time, and its UTC offset

    def now(self) -> str:
        now = time.time()
        passed = now - self._second
        if not 0 <= passed < 1:
            self._second = int(now)
            whole = datetime.fromtimestamp(self._second, self._zone).astimezone(self._zone).isoformat()
            self._text, self._offset = whole[:19], whole[19:]
            passed = now - self._second
        return "%s.%03d%s" % (self._text, passed * 1000, self._offset)  # noqa: UP031  # takes half of an f-string's time
