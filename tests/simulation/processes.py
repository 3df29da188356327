"""A process of the simulated world: its event loop, its clock, and its calls. It may die, or stall and wake up."""

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from enum import Enum, auto
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from app.clock import CLOCK, Clock
from tests.simulation.calls import Call
from tests.simulation.loop import VirtualLoop
from tests.simulation.site import Request

if TYPE_CHECKING:
    from tests.simulation.world import World

# Unix seconds at the start of the world.
EPOCH = 1_790_000_000
# The world answers these calls at once, because a worker gets the same answer at any time.
CONSTANT = frozenset({"get_queue_url", "get_queue_attributes"})
# Seconds after which each kind of call must have ended.
TABLE_DEADLINE, QUEUE_DEADLINE = 5.0, 10.0


class State(Enum):
    AWAKE = auto()
    STALLED = auto()
    DEAD = auto()


class Process:
    """One process. `skew`: how many seconds its system clock is ahead. `draw` replaces the random numbers.

    `history` is a hash of all answers that the process has received, with their times. The process is deterministic,
    so two processes with the same history are in the same state.
    """

    def __init__(self, world: "World", name: str, skew: float, draw: Callable[[float, float], float]) -> None:
        self.world, self.name, self.skew = world, name, skew
        self.loop = VirtualLoop(lambda: world.now)
        self.loop.set_exception_handler(lambda _, context: world.fail(f"{name}: {context}"))
        self.state = State.AWAKE
        self.pending: list[Call] = []
        self.unanswered: list[Call] = []
        self.history = b""
        self.is_working: Callable[[], bool] = lambda: False
        self._tokens = self._calls = 0
        self._clock = Clock(self._unix_ns, lambda: world.now, draw, self._token)
        self._main: asyncio.Task[None] | None = None

    def start(self, main: Callable[["Process"], Coroutine[Any, Any, None]]) -> None:
        """Starts `main` as the process's first task, with the process's own clock and randomness."""
        context = contextvars.copy_context()
        context.run(CLOCK.set, self._clock)
        self._main = context.run(self.loop.create_task, main(self))
        self.loop.settle()

    @property
    def has_ended(self) -> bool:
        return self.state is State.DEAD or (self._main is not None and self._main.done())

    def error(self) -> BaseException | None:
        """Returns the exception that has ended the process, or None."""
        if self._main is None or not self._main.done() or self._main.cancelled():
            return None
        return self._main.exception()

    def client(self, service: object, deadline: float) -> Any:
        """Returns a client like aiobotocore's, whose calls `service` answers."""
        return _Client(self, service, deadline)

    async def request(self, request: Request, seconds: float | None) -> Any:
        """Makes a call to the API, with aiohttp's time-out."""
        perform = partial(self.world.site.answer, request)
        longest = self.world.call_timeout if seconds is None else min(seconds, self.world.call_timeout)
        return await self.call(request.operation, {"request": request}, perform, longest)

    async def call(
        self, operation: str, parameters: dict[str, Any], perform: Callable[[], Any], deadline: float
    ) -> Any:
        """Makes a call and returns the answer, when the world has chosen to perform the call."""
        if self.world.closed:
            raise ConnectionError("the world has ended")
        if operation in CONSTANT:
            return perform()
        self._calls += 1
        now = self.world.now
        call = Call(self, self._calls, operation, parameters, perform, now + deadline)
        if wait := parameters.get("WaitTimeSeconds"):
            call.poll_ends = now + wait
            call.deadline += wait
            call.has_message = partial(self.world.has_message, parameters["QueueUrl"])
        self.pending.append(call)
        try:
            return await call.future
        finally:
            for calls in (self.pending, self.unanswered):
                if call in calls:
                    calls.remove(call)

    def answer(self, call: Call, outcome: Any) -> None:
        """Delivers an answer, and runs the process until it waits again."""
        self.note(call.number, outcome)
        call.resolve(outcome)
        self.loop.settle()

    def note(self, number: int, outcome: Any) -> None:
        """Adds an answer, or another event of the process, to the history."""
        content = getattr(outcome, "digest", getattr(outcome, "response", outcome))
        self.history = blake2b(repr((self.history, number, self.world.now, content)).encode(), digest_size=12).digest()

    def key(self) -> object:
        """Returns everything on which the next steps of the process depend."""
        if self.state is State.DEAD:
            return "dead"
        return self.state.name, self.history, self.skew

    def end(self) -> None:
        self.loop.end()

    def _unix_ns(self) -> int:
        return round((EPOCH + self.skew + self.world.now) * 1000) * 1_000_000

    def _token(self, _: int) -> str:
        self._tokens += 1
        return f"{self.name}-{self._tokens}"


class _Client:
    """A client like aiobotocore's: `await client.update_item(**parameters)`."""

    def __init__(self, process: Process, service: object, deadline: float) -> None:
        self._process, self._service, self._deadline = process, service, deadline

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        method = getattr(self._service, operation)
        return lambda **parameters: self._process.call(
            operation, parameters, partial(method, **parameters), self._deadline
        )
