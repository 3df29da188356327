"""The current time as text, for log lines and messages."""

import time
from datetime import datetime, tzinfo


class Timestamps:
    """Formats the current time in ISO 8601, with milliseconds. `zone`: None for the local time zone.

    Any thread may call `now`, because the handler of release v07 runs in threads.
    Formatting a date is slow, so `now` formats date and time once per second, and only the milliseconds at each call.
    """

    def __init__(self, zone: tzinfo | None = None) -> None:
        self._zone = zone
        self._formatted = (0, "", "")  # a second since the epoch, its date and time, and its UTC offset

    def now(self) -> str:
        now = time.time()
        second, text, offset = self._formatted
        if not 0 <= now - second < 1:
            second = int(now)
            whole = datetime.fromtimestamp(second, self._zone).astimezone(self._zone).isoformat()
            text, offset = whole[:19], whole[19:]
            self._formatted = second, text, offset  # one assignment, so that no other thread sees a partial change
        return "%s.%03d%s" % (text, (now - second) * 1000, offset)  # noqa: UP031  # takes half of an f-string's time
