"""All metrics of the service, and those of its event loop."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from app.settings import Settings
from app.telemetry.metrics.bounds import bounds
from app.telemetry.metrics.calls import CallMetrics
from app.telemetry.metrics.garbage import GarbageMetrics
from app.telemetry.metrics.instruments import Description, Histogram, Instrument, Observed, gauge
from app.telemetry.metrics.process import process_instruments
from app.telemetry.metrics.threads import ThreadTokens
from app.telemetry.metrics.webhooks import WebhookMetrics
from asgi_doctor.loop_delay import LoopDelay

DELAY_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class LoopMetrics:
    """Measures a process with an event loop: loop delay, thread tokens, garbage collection, CPU, memory, files.

    `fine`: as in `bounds`.
    """

    def __init__(self, *, fine: bool = False) -> None:
        seconds = bounds(DELAY_SECONDS, fine=fine)
        self._threads = ThreadTokens()
        self._garbage = GarbageMetrics()
        delays = Histogram("event_loop.delay", "s", "Event loop: how much later than due a timer runs.", seconds)
        self._delay = LoopDelay(delays.series().observe)
        self.instruments: list[Instrument] = [
            delays,
            gauge("event_loop.delay.max", "s", "The longest delay of the last ten seconds.", self._delay.longest),
            *self._threads.instruments,
            *self._garbage.instruments,
            *process_instruments(),
        ]

    @contextmanager
    def measuring(self) -> Iterator[None]:
        """On the event loop, which is measured as long as the context lasts."""
        self._threads.capture()
        self._garbage.start()
        self._delay.start()
        try:
            yield
        finally:
            self._delay.stop()
            self._garbage.stop()


class Metrics:
    """The metrics of the web process, made once: its observers, and the instruments that a collection reads."""

    def __init__(self, settings: Settings, version: str, method: str, route: str) -> None:
        fine = settings.metrics_fine
        self.webhooks = WebhookMetrics(method, route, settings.event_types, fine=fine)
        self.calls = CallMetrics(fine=fine)
        self.loop = LoopMetrics(fine=fine)
        self.instruments: list[Instrument] = [
            _info(settings, version),
            *self.webhooks.instruments,
            *self.calls.instruments,
            *self.loop.instruments,
        ]

    def add(self, instruments: Iterable[Instrument]) -> None:
        """Those of others, before the first collection."""
        self.instruments += instruments


def _info(settings: Settings, version: str) -> Observed:
    what = Description("gauge", "invoice_webhook.info", "", "Always 1.", ("release", "version"))
    return Observed(what, lambda: [((settings.release.value, version), 1)])
