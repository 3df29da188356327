"""The record of `python -m loadtest soak`: a long attack with faults."""

from loadtest.record.comparison import Environment
from loadtest.record.shapes import Audit, Latencies, Load, Record


class Soak(Record):
    """The record. `statuses`: the number of responses by status, where 0 is no response. `faults`: the number by kind.

    `starts`: how many times the service was started. `peak_mib`: its highest resident memory, in MiB.
    """

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
