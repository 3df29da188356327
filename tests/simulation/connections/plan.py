"""Defines the parts of the search: which requests, and within which bounds."""

from collections.abc import Iterator
from itertools import chain, product
from typing import NamedTuple

from tests.simulation.connections.events import Event
from tests.simulation.connections.orders import Bound, Order, orders
from tests.simulation.connections.requests import REQUESTS, TYPICAL


class Part(NamedTuple):
    """A part of the search: sequences of requests, a bound and the possible events. `what` describes the sequences."""

    what: str
    requests: list[tuple[str, ...]]
    bound: Bound
    events: tuple[Event, ...] = tuple(Event)

    def orders(self) -> Iterator[Order]:
        return chain.from_iterable(orders(requests, self.bound, self.events) for requests in self.requests)


_ONE: list[tuple[str, ...]] = [(name,) for name in REQUESTS]
_TYPICAL: list[tuple[str, ...]] = [(name,) for name in TYPICAL]
_LATE = (Event.STOPS_READING, Event.READS_AGAIN, Event.STOPS)
_TWO: list[tuple[str, ...]] = list(product(REQUESTS, TYPICAL))
_TWO_TYPICAL: list[tuple[str, ...]] = list(product(TYPICAL, TYPICAL))

# Two requests. The first request has no body, waits for SQS, closes the connection, ends with trailers, or is answered
# before its body.
_BEHIND: list[tuple[str, ...]] = [
    (name, "probe") for name in ("probe", "webhook", "last webhook", "webhook with trailers", "other path")
]

QUICK = (
    Part("one request", _ONE, Bound(cuts=1, events=0)),
    Part("two requests", _BEHIND, Bound(cuts=0, events=1)),
)
MORE = (
    Part("two requests", _BEHIND, Bound(cuts=1, events=1, together=False)),
    Part("one request, read late", _TYPICAL, Bound(cuts=0, events=3, together=False), _LATE),
    Part("two requests, read late", _BEHIND, Bound(cuts=1, events=2, together=False), _LATE),
    Part("one typical request", _TYPICAL, Bound(cuts=1, events=1, together=False)),
    Part("two typical requests", _TWO_TYPICAL, Bound(cuts=1, events=0, together=False)),
)
WHOLE = (
    Part("one request", _ONE, Bound(cuts=2, events=1)),
    Part("one request", _ONE, Bound(cuts=0, events=2)),
    Part("two requests", _TWO, Bound(cuts=2, events=0)),
    Part("two typical requests", _TWO_TYPICAL, Bound(cuts=1, events=1, together=False)),
)
