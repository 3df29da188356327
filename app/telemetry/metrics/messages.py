"""Defines the metrics of messages that a worker processes: outcomes, latencies, retries and dead letters."""

from collections.abc import Iterable

from app.telemetry.metrics.instruments import Counter, Histogram, Instrument, Labels
from app.telemetry.metrics.webhooks import LAG_SECONDS
from app.telemetry.record import SQS, MessageRecord

OPERATION = "process"
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
OTHER = "other"
# Maximum number of different values of a label, besides OTHER. This project defines the outcomes and most error codes,
# but other services may return any error code.
MOST_VALUES = 40


class MessageMetrics:
    """Counts messages in the event loop's thread. Labels contain no message values, to limit the number of series."""

    def __init__(self) -> None:
        durations = Histogram(
            "messaging.process.duration",
            "s",
            "Duration of the processing of a message, without the deletion of the message from the queue.",
            SECONDS,
            SQS.attributes,
        )
        waits = Histogram(
            "invoice_webhook.worker.queue_time",
            "s",
            "Time from the arrival of the webhook until a worker begins to process its message.",
            LAG_SECONDS,
        )
        self._durations, self._waits = durations.series(SQS.value, OPERATION), waits.series()
        self._outcomes = Counter("invoice_webhook.worker.messages", "{message}", "Messages by outcome.", ("outcome",))
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
        self.instruments: list[Instrument] = [durations, waits, self._outcomes, self._retries, self._dead]

    def expect(self, outcomes: Iterable[tuple[str, int | None]]) -> None:
        """Makes the counters of `outcomes` begin at 0. Ignores their HTTP statuses, because messages have none."""
        for outcome, _ in outcomes:
            self._outcomes.values.setdefault((outcome,), 0)

    def observe(self, record: MessageRecord) -> None:
        """Counts a message that the worker has processed."""
        assert record.ended is not None
        self._durations.observe(record.ended - record.began)
        if record.waited is not None:
            self._waits.observe(record.waited)
        _count(self._outcomes, record.outcome)
        if record.code is not None:
            _count(self._dead if record.retry_in is None else self._retries, record.code)


def _count(counter: Counter, value: str) -> None:
    labels: Labels = (value,)
    if labels not in counter.values and len(counter.values) >= MOST_VALUES:
        labels = (OTHER,)
    counter.values[labels] = counter.values.get(labels, 0) + 1
