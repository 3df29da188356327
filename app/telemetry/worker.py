"""Who is told of a worker's messages and calls: metrics and traces, where they are switched on."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app import __version__
from app.settings import Settings
from app.telemetry.logging import log_message
from app.telemetry.observers import blocked, each, make_watchdog, traces_wanted, wants_metrics
from app.telemetry.record import ObserveCall, ObserveMessage
from app.telemetry.resource import service_resource
from app.telemetry.trace import Trace

if TYPE_CHECKING:
    from app.telemetry.message_spans import MessageTracing
    from app.telemetry.metrics.worker import WorkerMetrics
    from asgi_doctor.watchdog import Watchdog


@dataclass(frozen=True)
class WorkerObservers:
    """Of one worker process; without any, nothing is observed but the log."""

    metrics: "WorkerMetrics | None" = None
    tracing: "MessageTracing | None" = None
    watchdog: "Watchdog | None" = None

    def begin_trace(self, traceparent: str | None) -> Trace | None:
        """The trace of a message with that attribute, if it has one."""
        if self.tracing is not None:
            return self.tracing.begin(traceparent)
        return None if traceparent is None else Trace.parsed(traceparent.encode())

    @contextmanager
    def measuring(self) -> Iterator[None]:
        """On the event loop, which is measured and watched as long as the context lasts."""
        with ExitStack() as stack:
            if self.metrics is not None:
                stack.enter_context(self.metrics.loop.measuring())
            if self.watchdog is not None:
                stack.enter_context(self.watchdog)
            yield

    def of_messages(self) -> ObserveMessage:
        """Tells all of them of a message whose processing has ended."""
        ours = [self.metrics.messages.observe] if self.metrics else []
        return each([*ours, *([self.tracing.message] if self.tracing else []), log_message])

    def of_calls(self) -> ObserveCall:
        """Tells all of them of a call that has ended."""
        return each([self.metrics.calls.observe] if self.metrics else [])


def make_worker_observers(settings: Settings, queue: str) -> WorkerObservers:
    """For the messages of `queue`; what somebody is to get. Raises ConfigurationError."""
    metrics = tracing = None
    watchdog = make_watchdog(settings)
    if wants_metrics(settings):
        from app.telemetry.metrics.worker import WorkerMetrics  # not imported without metrics

        metrics = WorkerMetrics(__version__)
        metrics.add(blocked(watchdog))
    if traces_wanted():
        from app.telemetry.message_spans import MessageTracing  # not imported without a collector

        tracing = MessageTracing(service_resource(), __version__, queue)
    return WorkerObservers(metrics, tracing, watchdog)
