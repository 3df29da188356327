"""The budgets, and the interface of the mechanisms that enforce them."""

from typing import NamedTuple, Protocol

MIB = 1024 * 1024


class Unavailable(Exception):
    """The machine does not have this mechanism. `str()` names the missing part."""


class Limits(NamedTuple):
    """The limits of a budget, None for no limit. `cpus`: a hard quota in cores. `memory`: in bytes."""

    cpus: float | None
    memory: int | None


# The published pod had 512 MiB at most. It requested a quarter of a core without a limit; here, one core is the limit.
LIMITS = {"burst": Limits(1.0, 512 * MIB), "capped": Limits(0.25, 512 * MIB), "none": Limits(None, None)}


class Budget(Protocol):
    """A budget. `how`: the name of the mechanism. `limited`: whether the mechanism enforces the CPU limit."""

    how: str
    limited: bool

    def command(self, command: list[str], environment: dict[str, str]) -> list[str]:
        """Returns the command line that runs `command` within the budget."""
        ...

    def attach(self, pid: int) -> None:
        """Prepares to measure the process `pid`, which `command` has started."""
        ...

    def cpu_seconds(self) -> float:
        """Returns the CPU seconds used within the budget so far."""
        ...

    def peak_bytes(self) -> int | None:
        """Returns the peak of memory within the budget so far, or None if the mechanism does not count it."""
        ...

    def close(self) -> None:
        """Removes the budget. Cgroups and Docker kill the processes that still run in it."""
        ...
