"""Defines the metrics of calls to SQS, DynamoDB and Chargebee."""

import threading
from collections.abc import Iterable

from app.telemetry.metrics.declared import DeclaredMetrics
from app.telemetry.metrics.instruments import Counter, Histogram, Instrument
from app.telemetry.record import CALL_SECONDS, CHARGEBEE, SQS, CallRecord, System

# The value of the label `error.type` for a call that Chargebee has rejected, for example because the invoice is closed.
# Chargebee works in this case, so the metrics need no error code. The message's dead letter contains the error code.
REJECTED = "rejected"
_FAILURES = {
    SQS.name: "Failed calls to {}, and messages that SQS rejected in successful calls, by error code.",
    CHARGEBEE.name: f"Failed calls to {{}}, by error code; {REJECTED}: Chargebee works, and has rejected the call.",
}


class CallMetrics:
    """The metrics of calls to several services (`systems`). Any thread may call `observe`."""

    def __init__(self, systems: Iterable[System] = (SQS,)) -> None:
        self._lock = threading.Lock()
        self._systems = {system.name: SystemMetrics(system) for system in systems}
        self.instruments: list[Instrument] = [one for found in self._systems.values() for one in found.instruments]

    def observe(self, record: CallRecord) -> None:
        """Counts a call that has ended."""
        with self._lock:
            self._systems[record.system.name].observe(record)


class SystemMetrics:
    """The metrics of calls to one service. Only one thread at a time may call `observe`."""

    def __init__(self, system: System) -> None:
        self._system, prefix = system, system.prefix
        text = f"Duration of calls to {system.name}, including retries."
        self._durations = Histogram(system.duration, "s", text, CALL_SECONDS, system.attributes)
        self._retries = Counter(f"{prefix}.retries", "{call}", f"Retries of calls to {system.name}.")
        failures = _FAILURES.get(system.name, "Failed calls to {}, by error code.").format(system.name)
        self._failures = Counter(f"{prefix}.failures", "{call}", failures, ("error.type",))
        self._declared = DeclaredMetrics(CallRecord, system.name, prefix)
        self.instruments: list[Instrument] = [self._durations, self._retries, self._failures]
        self.instruments += self._declared.instruments

    def observe(self, record: CallRecord) -> None:
        """Counts a call that has ended."""
        self._durations.series(self._system.value, record.operation).observe(record.ended - record.began)
        self._retries.add(record.retries)
        self._declared.observe(record)
        codes = [REJECTED] * len(record.refused) if self._system is CHARGEBEE else record.refused
        for code in codes if record.code is None else [record.code, *codes]:
            # Some of SQS's codes have the prefix AWS.SimpleQueueService, which the label leaves out.
            self._failures.count(code.rpartition(".")[2])
