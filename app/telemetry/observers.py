"""Who is told of webhooks and of calls to SQS: metrics and traces, where they are switched on.

What is not switched on is not imported: it would take time of the start, and memory.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from app import __version__
from app.settings import Settings
from app.telemetry.logging import log_blocked
from app.telemetry.record import CallRecord, MessageRecord, ObserveCall, ObserveWebhook, WebhookRecord
from app.telemetry.resource import otlp_wanted, service_resource
from app.telemetry.trace import Trace, sent_with

if TYPE_CHECKING:
    from app.telemetry.metrics.instruments import Instrument
    from app.telemetry.metrics.service import Metrics
    from app.telemetry.spans import Tracing
    from asgi_doctor.watchdog import Watchdog

_METRICS, _TRACES = "METRICS", "TRACES"
_Record = TypeVar("_Record", WebhookRecord, CallRecord, MessageRecord)


@dataclass(frozen=True)
class Observers:
    """Of one process; without any, nothing is observed."""

    metrics: "Metrics | None" = None
    tracing: "Tracing | None" = None
    watchdog: "Watchdog | None" = None

    def begin_trace(self, headers: Iterable[tuple[bytes, bytes]]) -> Trace | None:
        """The trace of a request with these headers, if it has one."""
        return self.tracing.begin(headers) if self.tracing else sent_with(headers)

    @contextmanager
    def measuring(self) -> Iterator[None]:
        """On the event loop, which is measured and watched as long as the context lasts."""
        with ExitStack() as stack:
            if self.metrics is not None:
                stack.enter_context(self.metrics.loop.measuring())
            if self.watchdog is not None:
                stack.enter_context(self.watchdog)
            yield

    def of_webhooks(self, *more: ObserveWebhook) -> ObserveWebhook:
        """Tells all of them, and `more`, of a webhook that has been answered."""
        ours = [self.metrics.webhooks.observe] if self.metrics else []
        return each([*ours, *([self.tracing.webhook] if self.tracing else []), *more])

    def of_calls(self) -> ObserveCall:
        """Tells all of them of a call that has ended, in the thread that made it."""
        ours = [self.metrics.calls.observe] if self.metrics else []
        return each([*ours, *([self.tracing.call] if self.tracing else [])])


def each(observers: list[Callable[[_Record], None]]) -> Callable[[_Record], None]:
    """One observer that tells all of them."""
    if len(observers) == 1:
        return observers[0]

    def tell(record: _Record) -> None:
        for observe in observers:
            observe(record)

    return tell


def make_observers(settings: Settings, method: str, route: str) -> Observers:
    """Observes webhooks on `route`. Raises ConfigurationError."""
    metrics = tracing = None
    watchdog = make_watchdog(settings)
    if wants_metrics(settings):
        from app.telemetry.metrics.service import Metrics  # not imported without metrics

        metrics = Metrics(settings, __version__, method, route)
        metrics.add(blocked(watchdog))
    if traces_wanted():
        from app.telemetry.spans import Tracing  # not imported without a collector

        tracing = Tracing(service_resource(), __version__, method, route)
    return Observers(metrics, tracing, watchdog)


def make_watchdog(settings: Settings) -> "Watchdog | None":
    """Of the event loop, where APP_BLOCK_WARN is set."""
    if settings.block_warn is None:
        return None
    from asgi_doctor.watchdog import Watchdog  # not imported without APP_BLOCK_WARN

    return Watchdog(settings.block_warn, log_blocked)


def blocked(watchdog: "Watchdog | None") -> "list[Instrument]":
    """What it counts, for a process with metrics."""
    if watchdog is None:
        return []
    from app.telemetry.metrics.instruments import counter  # not imported without metrics

    text = "Times that something held the event loop for longer than APP_BLOCK_WARN."
    return [counter("event_loop.blocked", "{time}", text, lambda: watchdog.blocked)]


def wants_metrics(settings: Settings) -> bool:
    """Whether somebody is to get them."""
    return settings.metrics_port is not None or otlp_wanted(_METRICS)


def traces_wanted() -> bool:
    return otlp_wanted(_TRACES)


class _Collected(Protocol):
    @property
    def instruments(self) -> "Sequence[Instrument]": ...


class _Closed(Protocol):
    @property
    def close(self) -> Callable[[], None]: ...


class Exporting(Protocol):
    """The observers of a process of either kind."""

    @property
    def metrics(self) -> _Collected | None: ...

    @property
    def tracing(self) -> _Closed | None: ...


@contextmanager
def exported(observers: Exporting, settings: Settings) -> Iterator[int | None]:
    """Exports as long as the context lasts; the port of /metrics. Raises ConfigurationError."""
    port = None
    with ExitStack() as stack:
        if observers.metrics is not None and settings.metrics_port is not None:
            from app.telemetry.metrics.prometheus import served  # not imported without APP_METRICS_PORT

            instruments = observers.metrics.instruments
            port = stack.enter_context(served(instruments, settings.metrics_host, settings.metrics_port))
        if observers.metrics is not None and otlp_wanted(_METRICS):
            from app.telemetry.metrics.otlp import pushed  # not imported without a collector

            stack.enter_context(pushed(observers.metrics.instruments, service_resource(), __version__))
        if observers.tracing is not None:
            stack.callback(observers.tracing.close)
        yield port
