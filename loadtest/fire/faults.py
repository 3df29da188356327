"""Injects faults into a service and its queue during a soak test. A seed decides which faults happen, and when."""

import random
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import NamedTuple, Self

from loadtest.fire.supervised import Supervised
from loadtest.stage.stack import Stack
from loadtest.stage.stand_in import StandIn
from loadtest.stage.toxiproxy import Toxic

# PAUSE is the pause between two faults, and LASTS is a fault's duration: the minimum and the maximum, in seconds.
PAUSE = (2.0, 8.0)
LASTS = (1.0, 8.0)


KINDS = (
    *("killed", "stopped"),
    *("SQS hangs", "SQS throttles", "SQS fails", "SQS refuses entries", "SQS is slow", "SQS cannot be reached"),
    *("answers are lost", "answers are cut", "connections are reset"),
)


class Step(NamedTuple):
    """A fault, the pause before it in seconds, and its duration in seconds."""

    pause: float
    kind: str
    seconds: float


def plan(seed: int) -> Iterator[Step]:
    """Yields steps without end. The same seed gives the same steps."""
    chosen = random.Random(seed)  # noqa: S311  # must be repeatable
    while True:
        yield Step(chosen.uniform(*PAUSE), chosen.choice(KINDS), chosen.uniform(*LASTS))


class FaultInjector:
    """A context that injects faults one after the other. `planted`: the number of injected faults by kind."""

    def __init__(self, stack: Stack, service: Supervised, seed: int) -> None:
        assert isinstance(stack.process, StandIn)
        self._queue, self._proxy, self._service = stack.process, stack.proxy, service
        self._seed = seed
        self.planted: Counter[str] = Counter()
        self._ended = threading.Event()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._kinds: dict[str, Callable[[], AbstractContextManager[None]]] = {
            "killed": lambda: self._signal(signal.SIGKILL),
            "stopped": lambda: self._signal(signal.SIGTERM),
            "SQS hangs": lambda: self._at_the_queue(hang=True),
            "SQS throttles": lambda: self._at_the_queue(throttle=0.9),
            "SQS fails": lambda: self._at_the_queue(error_500=0.7),
            "SQS refuses entries": lambda: self._at_the_queue(fail_entry=0.3),
            "SQS is slow": lambda: self._at_the_queue(delay_ms=700),
            "answers are lost": lambda: self._at_the_queue(reset=0.3),
            "SQS cannot be reached": self._unreachable,
            "answers are cut": lambda: self._on_the_way(("limit_data", {"bytes": 5000})),
            "connections are reset": lambda: self._on_the_way(("reset_peer", {"timeout": 300})),
        }

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            for step in plan(self._seed):
                if self._ended.wait(step.pause):
                    return
                self.planted[step.kind] += 1
                with self._kinds[step.kind]():
                    self._ended.wait(step.seconds)
        except Exception as error:
            self._failure = error

    @contextmanager
    def _signal(self, number: int) -> Iterator[None]:
        self._service.signal(number)
        yield

    @contextmanager
    def _at_the_queue(self, **planted: float | bool) -> Iterator[None]:
        self._queue.faults(seed=self._seed, **planted)
        yield
        self._queue.faults()

    @contextmanager
    def _unreachable(self) -> Iterator[None]:
        self._proxy.enable(False)
        yield
        self._proxy.enable(True)

    @contextmanager
    def _on_the_way(self, toxic: Toxic) -> Iterator[None]:
        self._proxy.add("soak", toxic)
        yield
        self._proxy.remove("soak")
