"""Collects all findings: blocks above the limit, sums of short blocks, starvation of threads, and slow starts."""

import threading
import time
from collections.abc import Callable

from asgi_doctor.block import SAMPLES, Block
from asgi_doctor.finding import Finding, Kind
from asgi_doctor.parts import Part, divided
from asgi_doctor.request import Request
from asgi_doctor.stacks import Location, Stack, own_line
from asgi_doctor.tally import Tally

OnFound = Callable[[Location, Stack, float], None]
OnFinding = Callable[[Finding], None]
# A location and a route. A location with the line number 0 stands for a function.
Key = tuple[Location, str]

# The doctor reports the short blocks of one function on one route when their sum exceeds SHORT_LIMITS times the limit.
# The sum decreases by SHORT_SHARE seconds in each second, so that rare short blocks do not add up.
SHORT_SHARE = 0.05
SHORT_LIMITS = 5
# A block that has lasted this many times the limit is reported before it ends, because it may never end.
STUCK_LIMITS = 10
# Maximum number of tallies (see tally.py). In an application without routes, each new path may add a tally.
MOST_TALLIES = 1000


class Findings:
    """Collects the findings about the blocks of event loops.

    `on_found` is called once per line, when a block of the line exceeds the limit. `on_finding` is called when a line's
    first long block ends or has lasted STUCK_LIMITS times the limit, when a function's short blocks add up to too much,
    and for new findings that `add` receives. Neither is called for a line that a comment in the code allows to block.
    """

    def __init__(self, limit: float, on_found: OnFound | None, on_finding: OnFinding | None) -> None:
        self.blocked = 0
        self._limit = limit
        self._on_found, self._on_finding = on_found or (lambda *_: None), on_finding or (lambda _: None)
        self._long: dict[Key, Tally] = {}
        self._short: dict[Key, _Leaking] = {}
        self._found: set[Location] = set()
        self._told: set[Key] = set()
        self._others: list[Finding] = []
        self._lock = threading.Lock()

    def all(self) -> list[Finding]:
        """Returns the findings so far, the longest total first. Any thread may call this."""
        with self._lock:
            long = [((location._replace(line=0), route), tally) for (location, route), tally in self._long.items()]
            short = [(key, one.tally) for key, one in self._short.items() if one.reported]
            found = _heavier(long, short) + _heavier(short, long) + self._others
            return sorted((one for one in found if not one.allowed), key=lambda finding: -finding.seconds)

    def add(self, finding: Finding) -> None:
        """Adds a finding that is not a block of the loop: starvation of a pool, or a slow start."""
        with self._lock:
            place = (finding.file, finding.line, finding.route, finding.kind)
            known = [one for one in self._others if (one.file, one.line, one.route, one.kind) == place]
            if all(one.seconds <= finding.seconds for one in known):
                self._others = [one for one in self._others if one not in known] + [finding]
        if not known:
            self._tell(finding)

    def count(self, block: Block, now: float) -> None:
        """If the block is longer than the limit at `now`, counts the block once, and reports each of its lines once."""
        block.lasts_until(now)
        if block.seconds <= self._limit or not block.samples:
            return
        if not block.counted:
            block.counted = True
            self.blocked += 1
            longest = divided(block, self._limit / SAMPLES)[0]
            self._say_once(longest.location, longest.stack, block.seconds)
        elif (last := block.samples[-1]).seconds > self._limit and (line := own_line(last.stack)) is not None:
            self._say_once(line, last.stack, last.seconds)
        if block.seconds > self._limit * STUCK_LIMITS and not block.reported:
            block.reported = True
            for part in self._long_parts(block)[0]:
                with self._lock:
                    key, tally = self._long_tally(part, block.request, {})
                self._tell_once(key, tally)

    def end(self, block: Block, now: float) -> None:
        """Adds a block, which has ended at `now`, to the sums of its lines."""
        self.count(block, now)
        if not block.samples:
            return
        long, short = self._long_parts(block)
        for part in long:
            if self._has_place(part, block.request):
                with self._lock:
                    key, tally = self._long_tally(part, block.request, self._long)
                self._tell_once(key, tally)
        for part in short:
            seen = block.kept_lock or (block.taken > 1 and part.seconds >= self._limit / 5)
            if part.location.in_app and seen and self._has_place(part, block.request):
                self._add_short(part, block.request, now)

    def _long_parts(self, block: Block) -> tuple[list[Part], list[Part]]:
        """Returns the long parts and the short parts of a block. If the block is below the limit, all parts are short.

        Otherwise, a part is long if it is above the limit, or if its line has a tally of long parts on this route. If
        there is no such part, all parts count as long.
        """
        parts, route = divided(block, self._limit / SAMPLES), block.request.route
        long = [part for part in parts if part.seconds > self._limit or (part.location, route) in self._long]
        long = (long or parts) if block.counted else []
        return long, [part for part in parts if part not in long]

    def _has_place(self, part: Part, request: Request) -> bool:
        known = {(part.location, request.route), _key_of_function(part, request)}
        full = len(self._long) + len(self._short) >= MOST_TALLIES
        return not full or bool(known & (self._long.keys() | self._short.keys()))

    def _long_tally(self, part: Part, request: Request, tallies: dict[Key, Tally]) -> tuple[Key, Tally]:
        """Adds the part to the tally of its key in `tallies`, and returns the key and the tally.

        The key is the line if it waits, builds, or has a tally already. Otherwise, it computes or collects garbage: the
        key is its function, because the samples of such work are in several lines of the function.
        """
        alone = Tally(part, request, short=False)
        alone.add(part, request)
        key = (part.location, request.route)
        if alone.cause in {Kind.COMPUTES, Kind.COLLECTS} and key not in self._long:
            key = _key_of_function(part, request)
        if key in tallies:
            tallies[key].add(part, request)
        return key, tallies.setdefault(key, alone)

    def _add_short(self, part: Part, request: Request, now: float) -> None:
        key = _key_of_function(part, request)
        with self._lock:
            leaking = self._short.setdefault(key, _Leaking(Tally(part, request, short=True)))
            reached = leaking.add(part, request, now) > self._limit * SHORT_LIMITS
        if reached and not leaking.reported:
            leaking.reported = True
            self._tell_once(key, leaking.tally)

    def _say_once(self, location: Location, stack: Stack, seconds: float) -> None:
        if location not in self._found:
            self._found.add(location)
            if not location.allowed:
                self._on_found(location, stack, seconds)

    def _tell_once(self, key: Key, tally: Tally) -> None:
        if key not in self._told:
            self._told.add(key)
            self._tell(tally.finding())

    def _tell(self, finding: Finding) -> None:
        if not finding.allowed:
            self._on_finding(finding)


def _key_of_function(part: Part, request: Request) -> Key:
    return part.location._replace(line=0), request.route


def _heavier(tallies: list[tuple[Key, Tally]], others: list[tuple[Key, Tally]]) -> list[Finding]:
    """Returns the finding of each tally, unless `others` has a tally with the same key and at least as many seconds."""
    more = [(key, tally.seconds) for key, tally in others]
    return [one.finding() for key, one in tallies if all(key != other or one.seconds > most for other, most in more)]


class _Leaking:
    """Sums the short blocks of one function on one route. In each second, the sum decreases by SHORT_SHARE seconds."""

    def __init__(self, tally: Tally) -> None:
        self.tally, self.reported = tally, False
        self._sum, self._last = 0.0, time.monotonic()

    def add(self, part: Part, request: Request, now: float) -> float:
        """Adds a short block, and returns the new sum in seconds."""
        self.tally.add(part, request)
        self._sum = max(self._sum - (now - self._last) * SHORT_SHARE, 0) + part.seconds
        self._last = now
        return self._sum
