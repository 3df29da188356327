"""The record of `python -m loadtest outage`: an attack while SQS is unreachable for a minute."""

from loadtest.record.comparison import Environment
from loadtest.record.shapes import Audit, Record


class Part(Record):
    """The webhooks that were sent before, during or after the outage.

    `statuses`: the number of webhooks by response status, where 0 is no response.
    """

    name: str
    webhooks: int
    statuses: dict[str, int]
    slowest_ms: float

    def text(self) -> str:
        answers = ", ".join(f"{status}: {number:,}" for status, number in sorted(self.statuses.items()))
        return f"{self.name}: {self.webhooks:,} sent; {answers}; slowest answer {self.slowest_ms:,.0f} ms"


class Outage(Record):
    """The record. `memory_mib`: the service's memory before the outage, at the outage's end, and after the attack."""

    environment: Environment
    command: str
    rate: int
    seconds: float
    parts: list[Part]
    memory_mib: dict[str, float]
    audit: Audit

    @property
    def holds(self) -> bool:
        """Returns True if no accepted webhook was lost, and all webhooks sent after the outage were accepted."""
        return self.audit.holds and self.parts[-1].statuses.keys() == {"200"}

    def text(self) -> str:
        """Returns a line for each part, and lines about the memory and the audit."""
        memory = ", ".join(f"{when} {mib:.0f} MiB" for when, mib in self.memory_mib.items())
        audit = f"audit: {self.audit.accepted:,} got 200, {len(self.audit.lost)} of them lost"
        return "\n".join([*(part.text() for part in self.parts), f"memory: {memory}", audit])
