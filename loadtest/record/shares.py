"""The record of where the CPU time of a webhook is spent."""

from loadtest.record.comparison import Environment
from loadtest.record.shapes import Conditions, Record


class Shares(Record):
    """`stages`: samples by stage; `cpu_ms`: of each webhook with a 200."""

    environment: Environment
    command: str
    release: str
    cpu_ms: float
    per_second: float
    samples: int
    stages: dict[str, int]
    conditions: Conditions | None = None
