"""Defines the metrics of calls to SQS, DynamoDB and Chargebee."""

import threading
from collections.abc import Iterable

from app.telemetry.metrics.instruments import Counter, Histogram, Instrument, Series
from app.telemetry.record import CHARGEBEE, SQS, CallRecord, System

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
SIZES = tuple(float(size) for size in range(1, 11))
KIB = 1024
BYTES = tuple(float(KIB * 4**power) for power in range(6))  # from 1 KiB to 1 MiB
OTHER = "other"
# The label of a call that Chargebee has rejected, for example because the invoice is closed. Chargebee works, and the
# message's outcome and dead letter say what the rejection means.
REJECTED = "rejected"
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
        # DynamoDB
        *("InternalServerError", "ProvisionedThroughputExceeded"),
        *("ProvisionedThroughputExceededException", "RequestLimitExceeded", "ResourceNotFoundException"),
        *("ThrottlingError", "TransactionConflict", "TransactionConflictException", "TransactionInProgressException"),
        *("ValidationError", "ValidationException"),
        # Chargebee, and its client
        *("api_request_limit_exceeded", "chargebee_forbidden", "chargebee_unauthorized", "chargebee_unreadable"),
        *("chargebee_http_429", "chargebee_http_500", "chargebee_http_502", "chargebee_http_503"),
        *("chargebee_http_504", "internal_error", "internal_temporary_error", "lock_timeout", "request_blocked"),
        *("site_not_found", REJECTED),
        *("ClientConnectorCertificateError", "ClientConnectorDNSError", "ClientConnectorError", "ClientOSError"),
        *("ClientPayloadError", "ConnectionTimeoutError", "ServerDisconnectedError"),
    }
)


def kind_of(code: str) -> str:
    """Returns the label for an error code: the code without its prefix, or `other` if CODES does not contain it.

    For example, the label of `AWS.SimpleQueueService.NonExistentQueue` is `NonExistentQueue`.
    """
    plain = code.rpartition(".")[2]
    return plain if plain in CODES else OTHER


class CallMetrics:
    """Counts calls to the `systems`. Any thread may call `observe`."""

    def __init__(self, systems: Iterable[System] = (SQS,)) -> None:
        self._lock = threading.Lock()
        kinds = {SQS.name: SqsMetrics, CHARGEBEE.name: ChargebeeMetrics}
        self._systems = {system.name: kinds.get(system.name, SystemMetrics)(system) for system in systems}
        self.instruments: list[Instrument] = [one for found in self._systems.values() for one in found.instruments]

    def observe(self, record: CallRecord) -> None:
        """Counts a call that has ended."""
        with self._lock:
            self._systems[record.system.name].observe(record)


class SystemMetrics:
    """The metrics that all services have. One thread at a time calls `observe`."""

    failures = "Failed calls to {}, by error code."

    def __init__(self, system: System) -> None:
        self._system, prefix = system, system.prefix
        text = f"Duration of calls to {system.name}, including retries."
        self._durations = Histogram(system.duration, "s", text, SECONDS, system.attributes)
        self._retries = Counter(f"{prefix}.retries", "{call}", f"Retries of calls to {system.name}.")
        self._failures = Counter(f"{prefix}.failures", "{call}", self.failures.format(system.name), ("error.type",))
        self._operations: dict[str, Series] = {}
        self.instruments: list[Instrument] = [self._durations, self._retries, self._failures]

    def observe(self, record: CallRecord) -> None:
        """Counts a call that has ended."""
        self._operation(record.operation).observe(record.ended - record.began)
        self._retries.values[()] += record.retries
        if record.code is not None:
            self.fail(kind_of(record.code))

    def fail(self, kind: str) -> None:
        self._failures.values[kind,] = self._failures.values.get((kind,), 0) + 1

    def _operation(self, name: str) -> Series:
        known = self._operations.get(name)
        if known is None:
            known = self._operations[name] = self._durations.series(self._system.value, name)
        return known


class SqsMetrics(SystemMetrics):
    """The metrics of calls to SQS, with the messages in each call."""

    failures = "Failed calls to {}, and messages that SQS rejected in successful calls, by error code."

    def __init__(self, system: System) -> None:
        super().__init__(system)
        sizes = Histogram(f"{system.prefix}.batch.size", "{message}", "Number of messages in a call to SQS.", SIZES)
        lengths = Histogram(
            f"{system.prefix}.batch.bytes", "By", "Number of bytes in a call that sends webhooks to SQS.", BYTES
        )
        waits = Histogram(
            f"{system.prefix}.wait", "s", "Time that a message waits in group commit for its call.", SECONDS
        )
        self._sizes, self._lengths, self._waits = sizes.series(), lengths.series(), waits.series()
        self.instruments += [sizes, lengths, waits]

    def observe(self, record: CallRecord) -> None:
        super().observe(record)
        if record.messages:
            self._sizes.observe(record.messages)
        if record.size:
            self._lengths.observe(record.size)
        for seconds in record.waited:
            self._waits.observe(seconds)
        for code in record.refused:
            self.fail(kind_of(code))


class ChargebeeMetrics(SystemMetrics):
    """The metrics of calls to Chargebee, with what its limit of API calls does to them."""

    failures = f"Failed calls to {{}}, by error code; {REJECTED}: Chargebee works, and has rejected the call."

    def __init__(self, system: System) -> None:
        super().__init__(system)
        waits = Histogram(
            f"{system.prefix}.wait", "s", "Time that a try waits for its slot in the rate limit of API calls.", SECONDS
        )
        self._waits = waits.series()
        self._throttled = Counter(f"{system.prefix}.throttled", "{call}", "Tries that Chargebee has answered with 429.")
        self.instruments += [waits, self._throttled]

    def observe(self, record: CallRecord) -> None:
        super().observe(record)
        for seconds in record.waited:
            self._waits.observe(seconds)
        self._throttled.values[()] += record.throttled
        if record.refused:
            self.fail(REJECTED)
