"""The record of the service's memory under faults of SQS."""

from loadtest.record.comparison import Environment
from loadtest.record.shapes import Audit, Record

LIMIT_MIB = 200


class Mode(Record):
    """One fault for a service of its own. `statuses`: 0 is no answer. `peak_mib`: VmHWM of the process."""

    fault: str
    tls: bool
    statuses: dict[str, int]
    peak_mib: float
    audit: Audit

    @property
    def name(self) -> str:
        return f"{self.fault}, {'TLS' if self.tls else 'plain'}"

    @property
    def holds(self) -> bool:
        return self.peak_mib <= LIMIT_MIB and self.audit.holds


class Memory(Record):
    environment: Environment
    command: str
    release: str
    users: int
    seconds: float
    modes: list[Mode]
