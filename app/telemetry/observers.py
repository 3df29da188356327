"""Makes the observers, which receive the record of each finished webhook or message, and of each call to SQS.

The observers write metrics and traces. The modules of an observer that is switched off are not imported, because they
would cost memory and start-up time.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from app import __version__
from app.settings import Settings
from app.telemetry.logging import log_blocked
from app.telemetry.record import CallRecord, MessageRecord, ObserveCall, Record, WebhookRecord
from app.telemetry.resource import otlp_wanted, service_resource
from app.telemetry.trace import Trace, sent_with

if TYPE_CHECKING:
    from app.telemetry.metrics.instruments import Instrument
    from app.telemetry.metrics.service import Metrics
    from app.telemetry.spans import Tracing
    from asgi_doctor.watchdog import Watchdog

_METRICS, _TRACES = "METRICS", "TRACES"
_Any = TypeVar("_Any", WebhookRecord, MessageRecord, CallRecord)


@dataclass(frozen=True)
class Observers(Generic[Record]):
    """The observers of one process, and its watchdog. Each is None if it is switched off."""

    metrics: "Metrics[Record] | None" = None
    tracing: "Tracing[Record] | None" = None
    watchdog: "Watchdog | None" = None

    def begin_trace(self, headers: Iterable[tuple[bytes, bytes]]) -> Trace | None:
        """Returns the trace of a request with `headers`, or None if the request has no trace and is not sampled."""
        return self.tracing.begin(headers) if self.tracing else sent_with(headers)

    def continue_trace(self, traceparent: str | None) -> Trace | None:
        """Returns the trace of a message with the attribute `traceparent`, or None, like `begin_trace`."""
        return self.begin_trace([] if traceparent is None else [(b"traceparent", traceparent.encode())])

    @contextmanager
    def measuring(self) -> Iterator[None]:
        """Measures the event loop of the caller, and runs the watchdog, until the context is left."""
        with ExitStack() as stack:
            if self.metrics is not None:
                stack.enter_context(self.metrics.loop.measuring())
            if self.watchdog is not None:
                stack.enter_context(self.watchdog)
            yield

    def of_records(self, *more: Callable[[Record], None]) -> Callable[[Record], None]:
        """Returns a function that passes the record of a webhook or message to all observers, and to `more`."""
        observers: list[Callable[[Record], None]] = []
        if self.metrics is not None:
            observers.append(self.metrics.records.observe)
        if self.tracing is not None:
            observers.append(self.tracing.observe)
        return _combined(observers + list(more))

    def of_calls(self) -> ObserveCall:
        """Returns a function that passes the record of a call to all observers, in the thread that made the call."""
        observers = [self.metrics.calls.observe] if self.metrics else []
        return _combined(observers + ([self.tracing.observe_call] if self.tracing else []))


def _combined(observers: Sequence[Callable[[_Any], None]]) -> Callable[[_Any], None]:
    if len(observers) == 1:
        return observers[0]

    def observe_all(record: _Any) -> None:
        for observe in observers:
            observe(record)

    return observe_all


def make_observers(settings: Settings, method: str, route: str) -> Observers[WebhookRecord]:
    """Returns the observers of webhooks on `route`. Raises ConfigurationError if an OTEL_ variable is wrong."""
    metrics = tracing = None
    watchdog = _watchdog(settings)
    if settings.metrics_port is not None or otlp_wanted(_METRICS):
        from app.telemetry.metrics.service import Metrics, info  # imported only with metrics
        from app.telemetry.metrics.webhooks import WebhookMetrics

        fine = settings.metrics_fine
        release = info("invoice_webhook.info", release=settings.release.value, version=__version__)
        metrics = Metrics(WebhookMetrics(method, route, settings.event_types, fine=fine), release, fine=fine)
        metrics.add(_blocked(watchdog))
    if otlp_wanted(_TRACES):
        from app.telemetry.spans import WebhookTracing  # imported only if there is a collector

        tracing = WebhookTracing(service_resource(), __version__, method, route)
    return Observers(metrics, tracing, watchdog)


def make_worker_observers(settings: Settings, queue: str) -> Observers[MessageRecord]:
    """Returns the observers of messages of `queue`. Raises ConfigurationError if an OTEL_ variable is wrong."""
    metrics = tracing = None
    watchdog = _watchdog(settings)
    if settings.metrics_port is not None or otlp_wanted(_METRICS):
        from app.telemetry.metrics.messages import MessageMetrics  # imported only with metrics
        from app.telemetry.metrics.service import Metrics, info

        metrics = Metrics(MessageMetrics(), info("invoice_webhook.worker.info", version=__version__))
        metrics.add(_blocked(watchdog))
    if otlp_wanted(_TRACES):
        from app.telemetry.spans import MessageTracing  # imported only if there is a collector

        tracing = MessageTracing(service_resource(), __version__, queue)
    return Observers(metrics, tracing, watchdog)


def _watchdog(settings: Settings) -> "Watchdog | None":
    if settings.block_warn is None:
        return None
    from asgi_doctor.watchdog import Watchdog  # imported only with APP_BLOCK_WARN

    return Watchdog(settings.block_warn, log_blocked)


def _blocked(watchdog: "Watchdog | None") -> "list[Instrument]":
    """Returns the counter of the watchdog, or no instrument if there is no watchdog."""
    from app.telemetry.metrics.instruments import counter  # imported only with metrics

    text = "How often a line of code blocked the event loop for longer than APP_BLOCK_WARN."
    return [counter("event_loop.blocked", "{time}", text, lambda: watchdog.blocked)] if watchdog is not None else []


@contextmanager
def exported(observers: Observers[Record], settings: Settings) -> Iterator[int | None]:
    """Exports metrics and traces until the context is left. Yields the port of /metrics, or None without /metrics.

    Raises ConfigurationError if the port is taken or a variable is wrong.
    """
    port = None
    with ExitStack() as stack:
        if observers.metrics is not None and settings.metrics_port is not None:
            from app.telemetry.metrics.prometheus import served  # imported only with APP_METRICS_PORT

            instruments = observers.metrics.instruments
            port = stack.enter_context(served(instruments, settings.metrics_host, settings.metrics_port))
        if observers.metrics is not None and otlp_wanted(_METRICS):
            from app.telemetry.metrics.otlp import pushed  # imported only if there is a collector

            stack.enter_context(pushed(observers.metrics.instruments, service_resource(), __version__))
        if observers.tracing is not None:
            stack.callback(observers.tracing.close)
        yield port
