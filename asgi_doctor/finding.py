"""Defines what the doctor reports: one line of the user's code on one route, and how it blocks the event loop."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """The way in which a line blocks.

    WAITS: in a sleep, or for a socket, lock, subprocess or file. COMPUTES: runs Python, a regular expression or a
    serialiser. BUILDS: creates a client or a TLS context, or imports a module. STARVES: keeps a pool's threads busy, so
    calls wait for a thread. COLLECTS: collects garbage. MANY_SHORT: blocks often, each time for less than the limit.
    STARTUP: waits, computes or collects garbage before the first request.
    """

    WAITS = "waits"
    COMPUTES = "computes"
    BUILDS = "builds"
    STARVES = "starves"
    COLLECTS = "collects"
    MANY_SHORT = "many_short"
    STARTUP = "startup"


@dataclass(frozen=True, slots=True)
class Cure:
    """Advice in the user's terms. `example` is up to three lines of code, with invented names."""

    advice: str
    example: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line that blocks. It blocked `count` times, for `seconds` in total, each time for at most `longest` seconds.

    For the kind STARVES, the figures describe a period in which there was always a call that waited for a thread:
    `count` is the largest number of calls that waited at once, `seconds` is the sum of the calls' waiting times, and
    `longest` is the length of the period, not the longest wait of one call.

    `route`: like `GET /orders/{id}`, or "" outside of a request. `chain`: the calls from the line to the library, each
    as `file:line in function`, the line itself first. `in_app`: the line is the user's, not a library's. `trace_id`:
    OpenTelemetry's trace id of the last block, or None. `uncertainty`: half the width of the 95 % confidence interval
    of `seconds`, or 0 if no other line shares the blocks. `libraries`: the packages that the line calls; if the line
    is in a library, this library comes first. `allowed`: a comment in the code allows the line to block. `coroutine`:
    the nearest calling line in an `async def`, or "" if there is none or if the blocking line itself is in one.
    """

    file: str
    line: int
    function: str
    route: str
    kind: Kind
    count: int
    seconds: float
    longest: float
    chain: tuple[str, ...]
    cure: Cure
    source: str
    in_app: bool = True
    trace_id: str | None = None
    uncertainty: float = 0.0
    libraries: tuple[str, ...] = ()
    allowed: bool = False
    coroutine: str = ""

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line} in {self.function}"

    @property
    def replaced(self) -> str:
        """Returns the line that the cure's example replaces, or "" if there is no such line."""
        return self.source if self.cure.example and self.kind not in {Kind.STARVES, Kind.COLLECTS} else ""
