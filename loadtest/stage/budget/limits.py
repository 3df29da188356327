"""The budgets, and what every way to enforce one can do."""

from typing import NamedTuple, Protocol

MIB = 1024 * 1024


class Unavailable(Exception):
    """The machine has no such mechanism; the text says what is missing."""


class Limits(NamedTuple):
    """`cpus`: cores, as a hard quota; None: as much as there is. `memory`: bytes."""

    cpus: float | None
    memory: int | None


# The published pod: 512 MiB at most; a quarter of a core requested, but free to burst (at most one core here).
LIMITS = {"burst": Limits(1.0, 512 * MIB), "capped": Limits(0.25, 512 * MIB), "none": Limits(None, None)}


class Budget(Protocol):
    """`how` names the mechanism; `limited` says whether it holds what is in it to the limits."""

    how: str
    limited: bool

    def command(self, command: list[str], environment: dict[str, str]) -> list[str]:
        """`command`, started within the budget."""
        ...

    def attach(self, pid: int) -> None:
        """`pid` is the process that `command` became."""
        ...

    def cpu_seconds(self) -> float:
        """CPU used within the budget so far."""
        ...

    def peak_bytes(self) -> int | None:
        """Most memory used within the budget so far; None where nobody counts it."""
        ...

    def close(self) -> None:
        """Takes the budget away, once nothing runs in it."""
        ...
