"""All findings of one event loop: blocks above the limit, sums of short blocks, starvation and the start."""

import threading
import time
from collections.abc import Callable

from asgi_doctor.block import Block
from asgi_doctor.finding import Finding, Kind
from asgi_doctor.request import Request
from asgi_doctor.stacks import Location, Stack
from asgi_doctor.tally import Tally, blame

OnFound = Callable[[Location, Stack, float], None]
OnFinding = Callable[[Finding], None]
# A line, or a function as a location with the line 0, and the route.
Key = tuple[Location, str]

# The doctor reports the short blocks of one function on one route when their sum exceeds SHORT_LIMITS times the limit.
# The sum loses SHORT_SHARE of the elapsed time, so that rare short blocks do not add up.
SHORT_SHARE = 0.05
SHORT_LIMITS = 5
# A block that has lasted this many times the limit is reported before it ends: it may never end.
STUCK_LIMITS = 10
# Maximum number of tallies. If an application has no routes, each request may have another path and so another tally.
MOST_TALLIES = 1000


class Findings:
    """Collects blocks.

    `on_found` is called once per line, when a block of the line exceeds the limit. `on_finding` is called when a line's
    first block ends or has lasted STUCK_LIMITS times the limit, when the sum of its short blocks is too large, and for
    new findings that `add` receives.
    """

    def __init__(self, limit: float, on_found: OnFound | None, on_finding: OnFinding | None) -> None:
        self.blocked = 0
        self._limit, self._on_found, self._on_finding = limit, on_found, on_finding
        self._long: dict[Key, Tally] = {}
        self._short: dict[Key, _Leaking] = {}
        self._found: set[Location] = set()
        self._told: set[Key] = set()
        self._others: list[Finding] = []
        self._lock = threading.Lock()

    def all(self) -> list[Finding]:
        """Returns the findings so far, the longest total first. Any thread may call this."""
        with self._lock:
            long = [tally.finding() for tally in self._long.values()]
            known = {(location._replace(line=0), route) for location, route in self._long}
            short = [one.tally.finding() for key, one in self._short.items() if one.reported and key not in known]
            return sorted(long + short + self._others, key=lambda finding: -finding.seconds)

    def add(self, finding: Finding) -> None:
        """Adds a finding that is not a block of the loop: starvation, or the start."""
        with self._lock:
            place = (finding.file, finding.line, finding.route, finding.kind)
            known = [one for one in self._others if (one.file, one.line, one.route, one.kind) == place]
            if all(one.seconds <= finding.seconds for one in known):
                self._others = [one for one in self._others if one not in known] + [finding]
        if not known:
            self._tell(finding)

    def count(self, block: Block, now: float) -> None:
        """Counts a block as soon as it is longer than the limit, and reports the line."""
        block.lasts_until(now)
        if block.seconds <= self._limit or not block.samples:
            return
        if not block.counted:
            block.counted = True
            self.blocked += 1
            location, stack = blame(block.samples, block.request)
            if location not in self._found:
                self._found.add(location)
                if self._on_found is not None:
                    self._on_found(location, stack, block.seconds)
        if block.seconds > self._limit * STUCK_LIMITS and not block.reported:
            block.reported = True
            location, stack = blame(block.samples, block.request)
            tally = Tally(location, stack, block.request, short=False)
            tally.add(location, block)
            with self._lock:
                key = self._long_key(block, location, tally)
            self._tell_once(key, tally)

    def end(self, block: Block, now: float) -> None:
        """Adds a block that has ended at `now`."""
        self.count(block, now)
        if not block.samples:
            return
        location, stack = blame(block.samples, block.request)
        known = {(location, block.request.route), _key_of_function(location, block.request)}
        full = len(self._long) + len(self._short) >= MOST_TALLIES
        if full and not known & (self._long.keys() | self._short.keys()):
            return
        if block.counted:
            with self._lock:
                key, tally = self._long_tally(block, location, stack)
            self._tell_once(key, tally)
        elif location.in_app and (block.kept_lock or (block.taken > 1 and block.seconds >= self._limit / 5)):
            key = _key_of_function(location, block.request)
            with self._lock:
                leaking = self._short.setdefault(key, _Leaking(Tally(location, stack, block.request, short=True)))
                reached = leaking.add(location, block, now) > self._limit * SHORT_LIMITS
            if reached and not leaking.reported:
                leaking.reported = True
                self._tell_once(key, leaking.tally)

    def _long_tally(self, block: Block, location: Location, stack: Stack) -> tuple[Key, Tally]:
        """Adds the block to the tally of its key, and returns both."""
        alone = Tally(location, stack, block.request, short=False)
        alone.add(location, block)
        key = self._long_key(block, location, alone)
        if key not in self._long:
            self._long[key] = alone
        else:
            self._long[key].add(location, block)
        return key, self._long[key]

    def _long_key(self, block: Block, location: Location, alone: Tally) -> Key:
        """Returns the key of the line if the line waits, and of its function if the function computes.

        Different blocks of one loop are seen in different lines. `alone`: the tally of this block.
        """
        key = (location, block.request.route)
        computes = alone.cause in {Kind.COMPUTES, Kind.COLLECTS}
        return _key_of_function(location, block.request) if computes and key not in self._long else key

    def _tell_once(self, key: Key, tally: Tally) -> None:
        if key not in self._told:
            self._told.add(key)
            self._tell(tally.finding())

    def _tell(self, finding: Finding) -> None:
        if self._on_finding is not None:
            self._on_finding(finding)


def _key_of_function(location: Location, request: Request) -> Key:
    return location._replace(line=0), request.route


class _Leaking:
    """Sums the short blocks of one function on one route. The sum loses SHORT_SHARE of the elapsed time."""

    def __init__(self, tally: Tally) -> None:
        self.tally, self.reported = tally, False
        self._sum, self._last = 0.0, time.monotonic()

    def add(self, location: Location, block: Block, now: float) -> float:
        """Returns the sum in seconds."""
        self.tally.add(location, block)
        self._sum = max(self._sum - (now - self._last) * SHORT_SHARE, 0) + block.seconds
        self._last = now
        return self._sum
