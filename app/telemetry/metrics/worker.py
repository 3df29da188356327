"""All metrics of a worker."""

from collections.abc import Iterable

from app.telemetry.metrics.calls import CallMetrics
from app.telemetry.metrics.instruments import Description, Instrument, Observed
from app.telemetry.metrics.messages import MessageMetrics
from app.telemetry.metrics.service import LoopMetrics


class WorkerMetrics:
    """Observers to hand out, and the instruments that a collection reads. Made once a process."""

    def __init__(self, version: str) -> None:
        info = Description("gauge", "invoice_webhook.worker.info", "", "Always 1.", ("version",))
        self.messages = MessageMetrics()
        self.calls = CallMetrics()
        self.loop = LoopMetrics()
        self.instruments: list[Instrument] = [
            Observed(info, lambda: [((version,), 1)]),
            *self.messages.instruments,
            *self.calls.instruments,
            *self.loop.instruments,
        ]

    def add(self, instruments: Iterable[Instrument]) -> None:
        """Those of others, before the first collection."""
        self.instruments += instruments
