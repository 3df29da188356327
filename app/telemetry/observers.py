"""Creates the observers, which receive a record of each finished webhook or message, and of each finished call.

The observers make metrics and traces from the records. If an observer is switched off, its modules are not imported,
because they would cost memory and start-up time.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from app import __version__
from app.errors import ConfigurationError
from app.settings import ProcessSettings, WebSettings
from app.telemetry.logging import log_blocked
from app.telemetry.record import SYSTEMS, CallRecord, MessageRecord, ObserveCall, Record, WebhookRecord
from app.telemetry.resource import otlp_wanted, service_resource
from app.telemetry.trace import Trace

if TYPE_CHECKING:
    from app.telemetry.metrics.process_metrics import Metrics
    from app.telemetry.spans import Tracing
    from asgi_doctor.watchdog import Watchdog

_METRICS, _TRACES = "METRICS", "TRACES"
_Any = TypeVar("_Any", WebhookRecord, MessageRecord, CallRecord)


@dataclass(frozen=True)
class Observers(Generic[Record]):
    """The observers of one process, and the watchdog of its event loop. Each of them is None if it is switched off."""

    metrics: "Metrics[Record] | None" = None
    tracing: "Tracing[Record] | None" = None
    watchdog: "Watchdog | None" = None

    def __post_init__(self) -> None:
        """Adds a metric that counts the blocks of the event loop, if there are metrics and a watchdog."""
        if self.metrics is not None and (watchdog := self.watchdog) is not None:
            from app.telemetry.metrics.instruments import counter  # imported only if metrics are exported

            text = "How often a line of code blocked the event loop for longer than APP_BLOCK_WARN."
            self.metrics.add([counter("event_loop.blocked", "{time}", text, lambda: watchdog.blocked)])

    def begin_trace(self, traceparent: bytes | None) -> Trace | None:
        """Returns the trace in the header `traceparent` of a request.

        Without a valid header, returns a new trace for a request that is sampled, and None for one that is not.
        """
        return self.tracing.begin(traceparent) if self.tracing else Trace.parsed(traceparent)

    def continue_trace(self, traceparent: str | None) -> Trace | None:
        """Returns the trace of a message, as `begin_trace` does for a request.

        `traceparent`: the message's attribute of this name, or None if it is missing.
        """
        # With `replace`, an invalid value, for example with a lone surrogate, raises no error.
        return self.begin_trace(None if traceparent is None else traceparent.encode(errors="replace"))

    @contextmanager
    def measuring(self) -> Iterator[None]:
        """Measures the caller's event loop and runs the watchdog until the `with` block ends."""
        loop = self.metrics.loop.measuring() if self.metrics is not None else nullcontext()
        with loop, self.watchdog or nullcontext():
            yield

    def of_records(self, *more: Callable[[Record], None]) -> Callable[[Record], None]:
        """Returns a function that passes a record of a webhook or message to all observers and to `more`."""
        observers: list[Callable[[Record], None]] = []
        if self.metrics is not None:
            observers.append(self.metrics.records.observe)
        if self.tracing is not None:
            observers.append(self.tracing.observe)
        return _combined(observers + list(more))

    def of_calls(self) -> ObserveCall:
        """Returns a function that passes the record of a call to all observers. Any thread may call the function."""
        observers = [self.metrics.calls.observe] if self.metrics else []
        return _combined(observers + ([self.tracing.observe_call] if self.tracing else []))


def _combined(observers: Sequence[Callable[[_Any], None]]) -> Callable[[_Any], None]:
    if len(observers) == 1:
        return observers[0]

    def observe_all(record: _Any) -> None:
        for observe in observers:
            observe(record)

    return observe_all


def make_observers(settings: WebSettings, method: str, route: str) -> Observers[WebhookRecord]:
    """Returns the observers of webhooks on `route`. Raises ConfigurationError if an OTEL_ variable is wrong."""
    metrics = tracing = None
    if settings.metrics_port is not None or otlp_wanted(_METRICS):
        from app.telemetry.metrics.process_metrics import Metrics, info  # imported only if metrics are exported
        from app.telemetry.metrics.webhook_metrics import WebhookMetrics

        release = info("invoice_webhook.info", release=settings.release.value, version=__version__)
        metrics = Metrics(WebhookMetrics(method, route, settings.event_types), release)
    if otlp_wanted(_TRACES):
        with _valid_variables():
            from app.telemetry.spans import WebhookTracing  # imported only if traces are exported

            tracing = WebhookTracing(service_resource(), __version__, method, route)
    return Observers(metrics, tracing, _watchdog(settings))


def make_worker_observers(settings: ProcessSettings, queue: str) -> Observers[MessageRecord]:
    """Returns the observers of messages of `queue`. Raises ConfigurationError if an OTEL_ variable is wrong."""
    metrics = tracing = None
    if settings.metrics_port is not None or otlp_wanted(_METRICS):
        from app.telemetry.metrics.message_metrics import MessageMetrics  # imported only if metrics are exported
        from app.telemetry.metrics.process_metrics import Metrics, info

        about = info("invoice_webhook.worker.info", version=__version__)
        metrics = Metrics(MessageMetrics(), about, SYSTEMS)
    if otlp_wanted(_TRACES):
        with _valid_variables():
            from app.telemetry.spans import MessageTracing  # imported only if traces are exported

            tracing = MessageTracing(service_resource(), __version__, queue)
    return Observers(metrics, tracing, _watchdog(settings))


@contextmanager
def _valid_variables() -> Iterator[None]:
    """Raises ConfigurationError if OpenTelemetry's SDK, in the `with` block, rejects an OTEL_ variable."""
    try:
        yield
    except (ValueError, RuntimeError) as error:  # RuntimeError if a variable names a component that is not installed
        raise ConfigurationError(f"a variable OTEL_… is wrong: {error}") from error


def _watchdog(settings: ProcessSettings) -> "Watchdog | None":
    if settings.block_warn is None:
        return None
    from asgi_doctor.watchdog import Watchdog  # imported only if APP_BLOCK_WARN is set

    return Watchdog(settings.block_warn, log_blocked)


@contextmanager
def exported(observers: Observers[Record], settings: ProcessSettings) -> Iterator[int | None]:
    """Exports metrics and traces until the `with` block ends. Yields the port of /metrics, or None if it is not served.

    Raises ConfigurationError if the port is taken or an environment variable is wrong.
    """
    port = None
    with ExitStack() as stack:
        if observers.metrics is not None and settings.metrics_port is not None:
            from app.telemetry.metrics.prometheus import served  # imported only if APP_METRICS_PORT is set

            instruments = observers.metrics.instruments
            port = stack.enter_context(served(instruments, settings.host, settings.metrics_port))
        if observers.metrics is not None and otlp_wanted(_METRICS):
            from app.telemetry.metrics.otlp import pushed  # imported only if metrics go to a collector

            with _valid_variables():
                stack.enter_context(pushed(observers.metrics.instruments, service_resource(), __version__))
        if observers.tracing is not None:
            stack.callback(observers.tracing.close)
        yield port
