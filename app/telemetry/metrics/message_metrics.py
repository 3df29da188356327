"""Defines the metrics of messages that a worker processes: outcomes, latencies, retries and dead letters."""

from collections.abc import Iterable

from app.telemetry.metrics.declared import DeclaredMetrics
from app.telemetry.metrics.instruments import Counter, Histogram, Instrument
from app.telemetry.record import SQS, MessageRecord

OPERATION = "process"
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)


class MessageMetrics:
    """Counts messages in the event loop's thread. No label has text from a message, to limit the number of series."""

    def __init__(self) -> None:
        durations = Histogram(
            "messaging.process.duration",
            "s",
            "Duration of the processing of a message, without the deletion of the message from the queue.",
            SECONDS,
            SQS.attributes,
        )
        self._declared = DeclaredMetrics(MessageRecord)
        self._durations = durations.series(SQS.value, OPERATION)
        self._retries = Counter(
            "invoice_webhook.worker.retries",
            "{retry}",
            "Messages that the worker will retry, by cause.",
            ("error.type",),
        )
        self._dead = Counter(
            "invoice_webhook.worker.dead_letters",
            "{dead_letter}",
            "Messages sent to the dead-letter queue, by cause.",
            ("error.type",),
        )
        self.instruments: list[Instrument] = [durations, *self._declared.instruments, self._retries, self._dead]

    def expect(self, outcomes: Iterable[tuple[str, int | None]]) -> None:
        """Makes the counters of `outcomes` begin at 0. Ignores their HTTP statuses, because messages have none."""
        self._declared.expect(outcome for outcome, _ in outcomes)

    def observe(self, record: MessageRecord) -> None:
        """Counts a message that the worker has processed."""
        assert record.ended is not None
        self._durations.observe(record.ended - record.began)
        self._declared.observe(record)
        if record.code is not None:
            (self._dead if record.retry_in is None else self._retries).count(record.code)
