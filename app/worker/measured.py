"""What `app.worker` tells the metrics: its outcomes, and the gauges of what it holds."""

from app.telemetry.metrics.instruments import Description, Observed, gauge
from app.telemetry.observers import Observers
from app.telemetry.record import MessageRecord
from app.worker.settle import DEAD_LETTER, LOST, RETRIED, RETURNED
from app.worker.work import Worker


def measure(worker: Worker, observers: Observers[MessageRecord]) -> None:
    """Before the first message, once."""
    if (metrics := observers.metrics) is None:
        return
    metrics.records.expect((outcome, None) for outcome in (RETRIED, DEAD_LETTER, LOST, RETURNED))
    consumed = Description(
        "counter",
        "messaging.client.consumed.messages",
        "{message}",
        "Messages received.",
        ("messaging.system", "messaging.operation.name"),
    )
    metrics.add(
        [
            Observed(consumed, lambda: [(("aws_sqs", "ReceiveMessage"), worker.received)]),
            gauge(
                "invoice_webhook.worker.held",
                "{message}",
                "Messages received and not settled.",
                lambda: len(worker.holding),
            ),
            gauge("invoice_webhook.worker.working", "{task}", "Messages in work.", lambda: worker.consumer.working),
            gauge("invoice_webhook.worker.poll_age", "s", "Since SQS last answered a poll.", worker.poll_age),
        ]
    )
