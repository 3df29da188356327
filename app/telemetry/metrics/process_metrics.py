"""Combines all metrics of a process: of webhooks or messages, of calls to other services, and of the event loop."""

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Generic, Protocol, TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import current_default_thread_limiter

from app.telemetry.metrics.call_metrics import CallMetrics
from app.telemetry.metrics.instruments import Description, Histogram, Instrument, Observed, gauge
from app.telemetry.metrics.process_usage import process_instruments
from app.telemetry.record import SQS, Record, System
from asgi_doctor.loop_delay import LoopDelay

DELAY_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
PAUSE_SECONDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)
GENERATIONS = 3
Record_contra = TypeVar("Record_contra", contravariant=True)


class GarbageMetrics:
    """Measures the pauses of Python's cyclic garbage collector, from `start` to `stop`.

    During a collection, no Python code except finalizers runs in any thread. A collection can begin in any
    thread, but two collections never run at the same time, so these metrics need no lock.
    """

    def __init__(self) -> None:
        pauses = Histogram(
            "cpython.gc.pause", "s", "Duration of pauses for garbage collection.", PAUSE_SECONDS, ("generation",)
        )
        self._generations = [pauses.series(number) for number in range(GENERATIONS)]
        self._began = 0.0
        self.instruments: list[Instrument] = [pauses]

    def start(self) -> None:
        gc.callbacks.append(self._collecting)

    def stop(self) -> None:
        gc.callbacks.remove(self._collecting)

    def _collecting(self, phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            self._began = perf_counter()
        else:
            self._generations[info["generation"]].observe(perf_counter() - self._began)


class LoopMetrics:
    """Measures the event loop and its process: loop delay, thread pool, garbage collection, CPU, memory and files.

    AnyIO's thread pool runs `run_in_threadpool`, sync dependencies and sync handlers. AnyIO limits its threads with one
    CapacityLimiter per event loop. The metrics of the pool have no values before `measuring` finds the limiter.
    """

    def __init__(self) -> None:
        self._limiter: CapacityLimiter | None = None
        self._garbage = GarbageMetrics()
        delays = Histogram(
            "event_loop.delay", "s", "How much later than scheduled the event loop runs a timer.", DELAY_SECONDS
        )
        self._delay = LoopDelay(delays.series().observe)
        self.instruments: list[Instrument] = [
            delays,
            gauge("event_loop.delay.max", "s", "The longest delay in the last ten seconds.", self._delay.longest),
            self._tokens("limit", "Maximum number of threads for blocking work.", lambda limiter: limiter.total_tokens),
            self._tokens("used", "Threads that do blocking work now.", lambda limiter: limiter.borrowed_tokens),
            self._tokens(
                "waiting", "Tasks that wait for a thread.", lambda limiter: limiter.statistics().tasks_waiting
            ),
            *self._garbage.instruments,
            *process_instruments(),
        ]

    @contextmanager
    def measuring(self) -> Iterator[None]:
        """Measures the caller's event loop until the `with` block ends."""
        self._limiter = current_default_thread_limiter()
        self._garbage.start()
        self._delay.start()
        try:
            yield
        finally:
            self._delay.stop()
            self._garbage.stop()

    def _tokens(self, name: str, text: str, read: Callable[[CapacityLimiter], float]) -> Observed:
        description = Description("gauge", f"thread_tokens.{name}", "{thread}", text)
        return Observed(description, lambda: [((), read(self._limiter))] if self._limiter is not None else [])


class RecordMetrics(Protocol[Record_contra]):
    """The metrics that are built from records: webhook records in the web process, message records in a worker."""

    instruments: list[Instrument]

    def expect(self, outcomes: Iterable[tuple[str, int | None]]) -> None:
        """Makes the counters of `outcomes` begin at 0.

        `outcomes`: the names of outcomes, each with the HTTP status of the response, or None if there is no response.
        """

    def observe(self, record: Record_contra) -> None: ...


class Metrics(Generic[Record]):
    """All metrics of a process. `records` counts webhooks or messages, and `calls` counts calls to `systems`.

    `instruments`: the metrics to export. `systems`: the services that the process calls.
    """

    def __init__(self, records: RecordMetrics[Record], info: Observed, systems: Iterable[System] = (SQS,)) -> None:
        self.records: RecordMetrics[Record] = records
        self.calls = CallMetrics(systems)
        self.loop = LoopMetrics()
        self.instruments: list[Instrument] = [
            *(info, *records.instruments, *self.calls.instruments, *self.loop.instruments)
        ]

    def add(self, instruments: Iterable[Instrument]) -> None:
        """Adds instruments of other packages. Call this method before the process starts to export the metrics."""
        self.instruments += instruments


def info(name: str, **labels: str) -> Observed:
    """Returns a gauge that is always 1. Its `labels` describe the process, for example the release."""
    description = Description("gauge", name, "", "Always 1.", tuple(labels))
    return Observed(description, lambda: [(tuple(labels.values()), 1)])
