"""The blocks of one line on one route, and the finding that they add up to."""

import linecache
from collections.abc import Sequence

from asgi_doctor import cures
from asgi_doctor.block import Block, Sample
from asgi_doctor.builders import builds
from asgi_doctor.finding import Finding, Kind
from asgi_doctor.request import Request
from asgi_doctor.stacks import Location, Stack, culprit, inside

_MOSTLY, _NEARLY_ALL = 0.5, 0.9
# Files whose functions call the endpoint and serialise what it returns.
_FRAMEWORKS = ("/fastapi/routing.py", "/starlette/routing.py", "/litestar/routes/http.py", "/litestar/routes/base.py")


class Tally:
    """Sums the blocks of one line, or of one function, on one route. `short`: each block is below the limit."""

    def __init__(self, location: Location, stack: Stack, request: Request, *, short: bool) -> None:
        self.stack, self.request, self.short = stack, request, short
        self._lines: dict[Location, float] = {location: 0.0}
        self.times, self.seconds, self.longest = 0, 0.0, 0.0
        self._computing = self._collecting = self._building = 0.0
        self._most: tuple[float, float] = (0.0, 0.0)

    @property
    def location(self) -> Location:
        """Returns the line that blocked for most of the time."""
        return max(self._lines, key=lambda location: self._lines[location])

    @property
    def source(self) -> str:
        return linecache.getline(self.location.file, self.location.line).strip()

    def add(self, location: Location, block: Block) -> None:
        self.times += 1
        self._lines[location] = self._lines.get(location, 0.0) + block.seconds
        self.seconds += block.seconds
        self.longest = max(self.longest, block.seconds)
        self._computing += min(block.computing, block.seconds)
        self._collecting += min(block.collecting, block.seconds)
        self._add_samples(block.samples, location, block.seconds)
        self.request = block.request

    def _add_samples(self, samples: Sequence[Sample], location: Location, seconds: float) -> None:
        """Adds what the stacks say about `seconds`; the latest samples stand for a long block."""
        total = sum(sample.seconds for sample in samples) or 1.0
        for sample in samples:
            weight = seconds * sample.seconds / total
            if builds(inside(sample.stack, location), linecache.getline(location.file, location.line)):
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
        # A library that makes many objects collects in between; that is a part of what it computes.
        # A collection runs finalizers, which are seen inside the line that allocates.
        inner = inside(self.stack, self.location)
        own = not inner or inner[0].function.endswith("__del__")
        if self._collecting > (most if own else self.seconds * _NEARLY_ALL):
            return Kind.COLLECTS
        return Kind.COMPUTES if self._computing > most else Kind.WAITS

    def finding(self, kind: Kind | None = None) -> Finding:
        """Returns the finding so far, of the kind that the blocks have, or of the given kind."""
        cause = self.cause
        kind = kind or (Kind.MANY_SHORT if self.short else cause)
        inner = inside(self.stack, self.location)
        return Finding(
            file=self.location.shown_file,
            line=self.location.line,
            function=self.location.function,
            route=self.request.route,
            kind=kind,
            count=self.times,
            seconds=round(self.seconds, 3),
            longest=round(self.longest, 3),
            chain=tuple(str(one) for one in (self.location, *inner) if not one.file.startswith("<frozen importlib")),
            cure=cures.cure(kind, cause, self.source, inner, handles=self.location == self.request.endpoint),
            source=self.source,
            in_app=self.location.in_app,
            trace_id=self.request.trace_id,
        )


def blame(samples: Sequence[Sample], request: Request) -> tuple[Location, Stack]:
    """Returns the user's innermost line and a stack that contains it.

    While a framework serialises a response, no line of the endpoint is running, but perhaps one of a middleware. If
    this takes most of the time, the line is the endpoint's definition.
    """
    stacks, endpoint = _by_time(samples), request.endpoint
    framework = [stack for stack in stacks if _is_of_framework(stack)]
    location, stack = culprit(framework if endpoint and len(framework) > len(stacks) * _MOSTLY else stacks)
    if endpoint is None or (location.in_app and not _is_of_framework(stack)):
        return location, stack
    routing = max((index for index, one in enumerate(stack) if one.file.endswith(_FRAMEWORKS)), default=0)
    return endpoint, (endpoint, *stack[routing:])


def _by_time(samples: Sequence[Sample]) -> list[Stack]:
    """Returns the stack of each sample once for each hundredth of the time that it stands for, and at least once."""
    hundredth = sum(sample.seconds for sample in samples) / 100 or 1.0
    return [sample.stack for sample in samples for _ in range(max(round(sample.seconds / hundredth), 1))]


def _is_of_framework(stack: Stack) -> bool:
    """Returns whether the framework works for the endpoint: the innermost line of the user, if any, has called it."""
    own = max((index for index, one in enumerate(stack) if one.in_app), default=-1)
    return any(one.file.endswith(_FRAMEWORKS) for one in stack[own + 1 :])
