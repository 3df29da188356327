"""Defines the metrics of calls to SQS."""

import threading

from app.telemetry.metrics.instruments import Counter, Histogram, Instrument, Series, bounds
from app.telemetry.record import CallRecord

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
SIZES = tuple(float(size) for size in range(1, 11))
KIB = 1024
BYTES = tuple(float(KIB * 4**power) for power in range(6))  # from 1 KiB to 1 MiB
SYSTEM = "aws_sqs"
OTHER = "other"
# Each of these error codes has its own time series. All other codes share the series OTHER, which limits the number of
# series: a proxy may return any code.
CODES = frozenset(
    {
        *("AccessDenied", "AccessDeniedException", "ExpiredToken", "ExpiredTokenException", "InvalidClientTokenId"),
        *("InvalidSignatureException", "NoCredentialsError", "RequestExpired", "SignatureDoesNotMatch"),
        "UnrecognizedClientException",
        *("InternalError", "InternalFailure", "OverLimit", "RequestThrottled", "ServiceUnavailable", "Throttling"),
        *("ThrottlingException", "Http500", "Http502", "Http503", "Http504"),
        *("BatchRequestTooLong", "InvalidMessageContents", "InvalidParameterValue", "NonExistentQueue"),
        "QueueDoesNotExist",
        *("AnswerError", "Cancelled", "ConnectionClosedError", "ConnectionRefusedError", "ConnectionResetError"),
        *("ConnectTimeoutError", "EndpointConnectionError", "NotAcknowledgedError", "ReadTimeoutError", "SSLError"),
        *("TimeoutError", "Unanswered"),
    }
)


def kind_of(code: str) -> str:
    """Returns the label for an error code: the code without its prefix, or `other` if CODES does not contain it.

    For example, the label of `AWS.SimpleQueueService.NonExistentQueue` is `NonExistentQueue`.
    """
    plain = code.rpartition(".")[2]
    return plain if plain in CODES else OTHER


class CallMetrics:
    """Counts calls to SQS. Any thread may call `observe`. `fine`: more buckets (APP_METRICS_FINE)."""

    def __init__(self, *, fine: bool = False) -> None:
        self._lock = threading.Lock()
        self._durations = Histogram(
            "messaging.client.operation.duration",
            "s",
            "Duration of calls to SQS, including retries.",
            bounds(SECONDS, fine=fine),
            ("messaging.system", "messaging.operation.name"),
        )
        sizes = Histogram("invoice_webhook.sqs.batch.size", "{message}", "Number of messages in a call to SQS.", SIZES)
        lengths = Histogram(
            "invoice_webhook.sqs.batch.bytes", "By", "Number of bytes in a call that sends webhooks to SQS.", BYTES
        )
        waits = Histogram(
            "invoice_webhook.sqs.wait", "s", "Time that a message waits in group commit for its call.", SECONDS
        )
        self._retries = Counter("invoice_webhook.sqs.retries", "{call}", "Retries of calls to SQS.")
        self._failures = Counter(
            "invoice_webhook.sqs.failures",
            "{call}",
            "Failed calls to SQS, and messages that SQS rejected in successful calls, by error code.",
            ("error.type",),
        )
        self._sizes, self._lengths, self._waits = sizes.series(), lengths.series(), waits.series()
        self._operations: dict[str, Series] = {}
        self.instruments: list[Instrument] = [self._durations, sizes, lengths, waits, self._retries, self._failures]

    def observe(self, record: CallRecord) -> None:
        """Counts a call that has ended."""
        with self._lock:
            self._operation(record.operation).observe(record.ended - record.began)
            if record.messages:
                self._sizes.observe(record.messages)
            if record.size:
                self._lengths.observe(record.size)
            for seconds in record.waited:
                self._waits.observe(seconds)
            self._retries.values[()] += record.retries
            if record.code is not None:
                self._fail(record.code)
            for code in record.refused:
                self._fail(code)

    def _operation(self, name: str) -> Series:
        known = self._operations.get(name)
        if known is None:
            known = self._operations[name] = self._durations.series(SYSTEM, name)
        return known

    def _fail(self, code: str) -> None:
        labels = (kind_of(code),)
        self._failures.values[labels] = self._failures.values.get(labels, 0) + 1
