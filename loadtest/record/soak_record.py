"""The record of a soak."""

from loadtest.record.comparison import Environment
from loadtest.record.shapes import Audit, Latencies, Load, Record


class Soak(Record):
    """The record. `statuses`: responses by status (0: none). `faults`: numbers by kind. `starts`: of the service."""

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
