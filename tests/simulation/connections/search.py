"""Searches all orders within a bound, with both handlers (callbacks and ASGI), and compares the handlers."""

import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

from tests.harness.service import READERS
from tests.simulation.connections.answers import Answer
from tests.simulation.connections.events import Event
from tests.simulation.connections.layout import Layout
from tests.simulation.connections.orders import Order
from tests.simulation.connections.plan import MORE, QUICK
from tests.simulation.connections.requests import REQUESTS
from tests.simulation.connections.server import HEAD_TIMEOUT, KEEP_ALIVE_TIMEOUT, Server
from tests.simulation.connections.watch import Seen, State, Watch
from tests.simulation.errors import unexpected_errors
from tests.simulation.steps import Violation

# Seconds between two steps, and between two checks whether the connection has ended.
_STEP, _PAUSE = 0.25, 5.0
# Seconds of CPU after which a run counts as endless: a run takes about a millisecond.
_ENDLESS = 5.0
_END = HEAD_TIMEOUT + KEEP_ALIVE_TIMEOUT + 10
_TOO_LATE = Answer(408, closes=True, complete=True)


@dataclass
class Found:
    """The numbers of a search. `violations`: for each violation, how often it occurred, and the shortest order."""

    orders: int = 0
    runs: int = 0
    violations: dict[str, tuple[int, Order]] = field(default_factory=dict)

    def add(self, violation: str, order: Order, number: int = 1) -> None:
        before, shortest = self.violations.get(violation, (0, order))
        shortest = min(shortest, order, key=lambda one: (len(one.steps), len(one.requests)))
        self.violations[violation] = before + number, shortest

    def merge(self, other: "Found") -> None:
        self.orders += other.orders
        self.runs += other.runs
        for violation, (number, order) in other.violations.items():
            self.add(violation, order, number)


def search(some: Iterable[Order], *, stop: bool = False) -> Found:
    """Runs each order with both handlers. `stop`: True ends the search after the first violation."""
    found = Found()
    with unexpected_errors() as errors:
        for order in some:
            found.orders += 1
            seen = {reader: _run(reader, order, errors, found) for reader in READERS}
            for reader, other in seen.items():
                if _comparable(order) and None not in seen.values() and other != seen["callbacks"]:
                    found.add(f"{reader} differs from callbacks", order)
            if stop and found.violations:
                break
    return found


def _comparable(order: Order) -> bool:
    """Returns False if the handlers may differ.

    They may if the client does not read, if an event shares an iteration, or if the client stops sending behind bytes
    that the server holds: a handler may answer these before the server learns of the end.
    """
    events = {step.what for step in order.steps if isinstance(step.what, Event)}
    if Event.STOPS_READING in events or (Event.STOPS_SENDING in events and len(order.requests) > 1):
        return False
    return not events or all(step.settled for step in order.steps)


def _run(reader: str, order: Order, errors: list[str], found: Found) -> list[Seen] | None:
    """Returns the states and answers of a run, or None after a violation."""
    found.runs += 1
    errors.clear()
    server = Server(reader, errors)
    try:
        with _ends():
            return _follow(server, order)
    except Violation as violation:
        found.add(f"{reader}: {violation}", order)
        return None
    finally:
        server.close()


@contextmanager
def _ends() -> Iterator[None]:
    """Interrupts the `with` block by a Violation after every _ENDLESS seconds of CPU."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise Violation("the server reads for ever")

    before = signal.signal(signal.SIGVTALRM, interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, _ENDLESS, _ENDLESS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _follow(server: Server, order: Order) -> list[Seen]:
    layout = Layout(order.requests)
    watch, sent = Watch(server, layout), 0
    seen = [watch.look()]
    for step in order.steps:
        if isinstance(step.what, Event):
            watch.happened.append(step.what)
            server.do(server.event(step.what), settled=step.settled)
        else:
            server.send(layout.stream[sent : step.what], settled=step.settled)
            sent = step.what
        if step.settled:
            seen.append(watch.look())
            server.pass_time(_STEP)
    for _ in order.requests:
        server.do(server.event(Event.FAILED if Event.FAILED in watch.happened else Event.ACKNOWLEDGED))
    seen.append(watch.look())
    state = seen[-1].state
    if state is State.IDLE:
        _send_next(server, watch)
    _outlast(server, watch, late=state in (State.HEAD, State.BODY))
    return seen


def _send_next(server: Server, watch: Watch) -> None:
    """Raises Violation if a connection that is kept alive does not answer another request."""
    if not watch.answers or {Event.STOPS_READING, Event.DRAINS} & set(watch.happened):
        return
    server.send(REQUESTS["probe"].head)
    if [(answer.status, answer.complete) for answer in watch.read()[len(watch.answers) :]] != [(200, True)]:
        raise Violation("a connection that is kept alive does not answer")


def _outlast(server: Server, watch: Watch, *, late: bool) -> None:
    """Checks that the connection ends at its deadline, and that the process then stores nothing about the connection.

    `late`: True if a head or a body is incomplete. A client that reads must then get 408. Raises Violation.
    """
    late = late and Event.STOPS_READING not in watch.happened
    while not server.client.ended and server.now < _END:
        server.skip_time(_PAUSE)
        server.do(server.event(Event.ACKNOWLEDGED))
    if late and watch.read()[-1:] != [_TOO_LATE]:
        raise Violation("what is late gets no 408")
    if not server.client.ended:
        raise Violation("the connection stays open beyond its deadline")
    if left := server.left():
        raise Violation(f"left behind: {left}")
    if len(watch.read()) > len(watch.layout.placed) + 1:
        raise Violation("there are more answers than requests")
    if server.errors:
        raise Violation(f"logged: {server.errors[0]}")


def first_violation() -> tuple[str | None, int]:
    """Returns the first violation in the smaller parts of the plan, and the number of runs."""
    runs = 0
    for part in (*QUICK, *MORE):
        found = search(part.orders(), stop=True)
        runs += found.runs
        if found.violations:
            return next(iter(found.violations)), runs
    return None, runs
