"""What is searched: which requests, within which bounds."""

from itertools import product
from typing import NamedTuple

from tests.simulation.connections.orders import Bound
from tests.simulation.connections.requests import REQUESTS, TYPICAL


class Part(NamedTuple):
    """Each sequence of requests is searched within the bound. `what` describes the sequences."""

    what: str
    requests: list[tuple[str, ...]]
    bound: Bound


_ONE: list[tuple[str, ...]] = [(name,) for name in REQUESTS]
_TWO: list[tuple[str, ...]] = list(product(REQUESTS, TYPICAL))
_TWO_TYPICAL: list[tuple[str, ...]] = list(product(TYPICAL, TYPICAL))

# The second request meets a connection that waits, works, closes or ends.
_BEHIND: list[tuple[str, ...]] = [
    (name, "probe") for name in ("probe", "webhook", "last webhook", "webhook with trailers")
]

QUICK = (
    Part("one request", _ONE, Bound(cuts=1, events=0)),
    Part("two requests", _BEHIND, Bound(cuts=0, events=1)),
)
MORE = (
    Part("one typical request", [(name,) for name in TYPICAL], Bound(cuts=1, events=1, together=False)),
    Part("two typical requests", _TWO_TYPICAL, Bound(cuts=1, events=0, together=False)),
)
WHOLE = (
    Part("one request", _ONE, Bound(cuts=2, events=1)),
    Part("one request", _ONE, Bound(cuts=0, events=2)),
    Part("two requests", _TWO, Bound(cuts=2, events=0)),
    Part("two typical requests", _TWO_TYPICAL, Bound(cuts=1, events=1, together=False)),
)
