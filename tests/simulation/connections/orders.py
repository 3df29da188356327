"""The orders in which segments of requests, and events, reach a server."""

from collections.abc import Iterator, Sequence
from itertools import combinations, combinations_with_replacement, product
from typing import NamedTuple

from tests.simulation.connections.events import Event
from tests.simulation.connections.layout import Layout


class Step(NamedTuple):
    """An event, or the position at which a segment of the client's stream ends.

    If `settled` is False, the next step happens in the same iteration of the event loop.
    """

    what: int | Event
    settled: bool = True


class Order(NamedTuple):
    """The names of the requests, and the steps: segments that arrive, and events."""

    requests: tuple[str, ...]
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        cuts = Layout(self.requests).cuts
        named = [
            (step.what if isinstance(step.what, Event) else f"arrives: {cuts[step.what]}")
            + ("" if step.settled else ", and at once")
            for step in self.steps
        ]
        return "\n".join(named)


class Bound(NamedTuple):
    """The limits of a search: the maximum numbers of segments before the last segment (`cuts`) and of events.

    `together`: True if two steps may share an iteration of the event loop.
    """

    cuts: int
    events: int
    together: bool = True


# These events only change the effect of later steps. So it makes no difference if a later step shares the iteration.
_QUIET = (Event.STOPS_READING, Event.DRAINS, Event.OVERLOADED, Event.RECOVERED)


def orders(requests: Sequence[str], bound: Bound, events: Sequence[Event] = tuple(Event)) -> Iterator[Order]:
    """Yields all orders within the bound. The client may stop in the middle of a request."""
    for segments in _segments(list(Layout(requests).cuts), bound.cuts):
        for steps in _with_events(segments, bound.events, events):
            yield Order(tuple(requests), steps)
            if bound.together:
                for number in range(len(steps) - 1):
                    if steps[number].what not in _QUIET:
                        together = (*steps[:number], Step(steps[number].what, settled=False), *steps[number + 1 :])
                        yield Order(tuple(requests), together)


def _segments(positions: list[int], cuts: int) -> Iterator[list[Step]]:
    for last, end in enumerate(positions):
        for number in range(cuts + 1):
            for before in combinations(positions[:last], number):
                yield [Step(position) for position in (*before, end)]


def _with_events(segments: list[Step], most: int, events: Sequence[Event]) -> Iterator[tuple[Step, ...]]:
    for number in range(most + 1):
        for places in combinations_with_replacement(range(len(segments) + 1), number):
            for chosen in product(events, repeat=number):
                steps = list(segments)
                for place, event in reversed(list(zip(places, chosen, strict=True))):
                    steps.insert(place, Step(event))
                yield tuple(steps)
