"""The budgets, and the interface of the mechanisms that enforce them."""

from typing import NamedTuple, Protocol

MIB = 1024 * 1024


class Unavailable(Exception):
    """The machine has no such mechanism; the text names what is missing."""


class Limits(NamedTuple):
    """`cpus`: cores, as a hard quota; None: no limit. `memory`: bytes."""

    cpus: float | None
    memory: int | None


# The published pod: 512 MiB at most; a quarter of a core requested, without a limit (at most one core here).
LIMITS = {"burst": Limits(1.0, 512 * MIB), "capped": Limits(0.25, 512 * MIB), "none": Limits(None, None)}


class Budget(Protocol):
    """`how` names the mechanism; `limited`: whether it enforces the CPU limit."""

    how: str
    limited: bool

    def command(self, command: list[str], environment: dict[str, str]) -> list[str]:
        """The command line that runs `command` within the budget."""
        ...

    def attach(self, pid: int) -> None:
        """Called with the pid of the process that `command` started."""
        ...

    def cpu_seconds(self) -> float:
        """CPU used within the budget so far."""
        ...

    def peak_bytes(self) -> int | None:
        """Peak of memory within the budget so far; None where it is not counted."""
        ...

    def close(self) -> None:
        """Removes the budget; cgroups and Docker kill the processes left in it."""
        ...
