"""Computes at which positions of a client's stream of bytes the heads and bodies of its requests begin and end."""

from collections.abc import Sequence
from typing import NamedTuple

from tests.simulation.connections.requests import REQUESTS, Request

# A segment that ends within a head contains this many bytes of the head. This position is in the first line or in a
# header, depending on the request.
_PART_OF_HEAD = 25


class Placed(NamedTuple):
    """A request and the positions in the stream at which it begins, its head ends and its body ends."""

    request: Request
    begin: int
    head_end: int
    end: int


class Layout:
    """The stream of several requests. `cuts`: the positions at which a segment may end, with their names."""

    def __init__(self, names: Sequence[str]) -> None:
        self.placed: list[Placed] = []
        self.cuts: dict[int, str] = {}
        self.stream = b""
        for name in names:
            self._add(name, REQUESTS[name])

    def _add(self, name: str, request: Request) -> None:
        begin = len(self.stream)
        head_end = begin + len(request.head)
        end = head_end + len(request.body)
        self.placed.append(Placed(request, begin, head_end, end))
        self.stream += request.head + request.body
        self.cuts[begin + _PART_OF_HEAD] = f"a part of the head of {name!r}"
        self.cuts[head_end] = f"the head of {name!r}"
        if request.body:
            self.cuts[head_end + len(request.body) // 2] = f"half of the body of {name!r}"
            self.cuts[end] = f"the body of {name!r}"

    @property
    def methods(self) -> list[str]:
        return [placed.request.method for placed in self.placed]
