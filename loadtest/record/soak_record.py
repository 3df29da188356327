"""The record of a soak."""

from loadtest.record.comparison import Environment
from loadtest.record.shapes import Audit, Latencies, Load, Record


class Soak(Record):
    """`statuses`: 0 is no answer. `faults`: how often each was planted. `starts`, `peak_mib`: of the service."""

    environment: Environment
    command: str
    seed: int
    load: Load
    webhooks: int
    statuses: dict[str, int]
    latencies: Latencies
    audit: Audit
    faults: dict[str, int]
    starts: int
    peak_mib: float
