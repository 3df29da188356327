"""The locations that blocked the event loop, each reported once."""

from collections.abc import Callable
from dataclasses import dataclass

from asgi_doctor.ping import Ping
from asgi_doctor.stacks import Location, Stack, culprit

OnFound = Callable[[Location, Stack, float], None]


@dataclass(slots=True)
class BlockedLocation:
    """How often one location blocked the loop, for how many seconds, and how many of them the thread used CPU."""

    location: Location
    stack: Stack
    times: int = 0
    seconds: float = 0.0
    longest: float = 0.0
    computing: float = 0.0

    def add(self, seconds: float, computing: float) -> None:
        self.times += 1
        self.seconds += seconds
        self.longest = max(self.longest, seconds)
        self.computing += computing


class Findings:
    """Counts and reports what blocked the loop. For the parameters, `blocked` and `locations`, see `Watchdog`."""

    def __init__(self, seconds: float, on_found: OnFound) -> None:
        self.blocked = 0
        self.locations: dict[Location, BlockedLocation] = {}
        self._seconds, self._on_found = seconds, on_found
        self._reported: set[Location] = set()

    def count(self, ping: Ping, now: float) -> None:
        """Counts a ping as soon as the loop has been blocked for too long, and reports the location."""
        ping.update_blocked(now)
        if ping.blocked > self._seconds and ping.samples and not ping.counted:
            ping.mark_counted()
            self.blocked += 1
            self._report(*culprit(ping.samples), ping.blocked)

    def end(self, ping: Ping, now: float, cpu: float) -> None:
        """Adds a ping that the loop answered at `now`, when its thread had used `cpu` seconds."""
        self.count(ping, now)
        if ping.counted:
            location, stack = culprit(ping.samples)
            blocked = self.locations.setdefault(location, BlockedLocation(location, stack))
            blocked.add(ping.blocked, cpu - ping.cpu_before)
            self._report(location, stack, ping.blocked)

    def _report(self, location: Location, stack: Stack, seconds: float) -> None:
        if location not in self._reported:
            self._reported.add(location)
            self._on_found(location, stack, seconds)
