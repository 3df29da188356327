"""The blocks of one line on one route, and the finding that they add up to."""

import math

from asgi_doctor import cures
from asgi_doctor.builders import builds
from asgi_doctor.finding import Finding, Kind
from asgi_doctor.parts import FRAMEWORKS, Part
from asgi_doctor.request import Request
from asgi_doctor.stacks import Location, chain, coroutine, inside, libraries

_MOSTLY, _NEARLY_ALL = 0.5, 0.9


class Tally:
    """Sums the blocks of one line, or of one function, on one route. `short`: each block is below the limit.

    If other lines share these blocks, `seconds` is an estimate, and `shared` is its variance in s².
    """

    def __init__(self, part: Part, request: Request, *, short: bool) -> None:
        self.stack, self.request, self.short = part.stack, request, short
        self._lines: dict[Location, float] = {part.location: 0.0}
        self.times, self.seconds, self.longest, self.shared = 0, 0.0, 0.0, 0.0
        self._computing = self._collecting = self._building = 0.0
        self._most: tuple[float, float] = (0.0, 0.0)

    @property
    def location(self) -> Location:
        """Returns the line that has blocked for the longest time in total."""
        return max(self._lines, key=lambda location: self._lines[location])

    def add(self, part: Part, request: Request) -> None:
        self.times += 1
        self._lines[part.location] = self._lines.get(part.location, 0.0) + part.seconds
        self.seconds += part.seconds
        self.longest = max(self.longest, part.seconds)
        self.shared += part.variance
        self._computing += min(part.computing, part.seconds)
        self._collecting += min(part.collecting, part.seconds)
        self._add_samples(part)
        self.request = request

    def _add_samples(self, part: Part) -> None:
        """Sums the seconds of samples that build something (see `builds`), and keeps the heaviest stack.

        The samples share all of the part's seconds, because a long block has kept only its latest samples.
        """
        total, location = sum(sample.seconds for sample in part.samples) or 1.0, part.location
        for sample in part.samples:
            weight = part.seconds * sample.seconds / total
            if builds(inside(sample.stack, location), location.source):
                self._building += weight
            heaviness = (self._lines[location], weight)
            if heaviness > self._most and location in sample.stack:
                self._most, self.stack = heaviness, sample.stack

    @property
    def cause(self) -> Kind:
        """Returns what the line does for most of the time, over all samples."""
        most = self.seconds * _MOSTLY
        if self._building > most:
            return Kind.BUILDS
        # Garbage collections during a call that the line makes count as computing, unless they take nearly all time.
        # A `__del__` looks like such a call, but is not one, because a garbage collection runs this finalizer.
        inner = inside(self.stack, self.location)
        own = not inner or inner[0].function.endswith("__del__")
        if self._collecting > (most if own else self.seconds * _NEARLY_ALL):
            return Kind.COLLECTS
        return Kind.COMPUTES if self._computing > most else Kind.WAITS

    def finding(self, kind: Kind | None = None) -> Finding:
        """Returns the finding so far. `kind`: the finding's kind; None derives it from the blocks."""
        cause = self.cause
        kind = kind or (Kind.MANY_SHORT if self.short else cause)
        inner = inside(self.stack, self.location)
        # If an endpoint is written on one line, a call from the `def` line may be the endpoint's, not the framework's.
        handles = self.location == self.request.endpoint and any(one.file.endswith(FRAMEWORKS) for one in inner[:1])
        return Finding(
            file=self.location.shown_file,
            line=self.location.line,
            function=self.location.function,
            route=self.request.route,
            kind=kind,
            count=self.times,
            seconds=round(self.seconds, 3),
            longest=round(self.longest, 3),
            chain=chain(self.location, inner),
            cure=cures.cure(kind, cause, self.location.source, inner, handles=handles),
            source=self.location.source,
            in_app=self.location.in_app,
            trace_id=self.request.trace_id,
            uncertainty=round(1.96 * math.sqrt(self.shared), 3),
            libraries=libraries(self.location, inner),
            allowed=self.location.allowed,
            coroutine=coroutine(self.stack, self.location),
        )
