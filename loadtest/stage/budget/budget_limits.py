"""The budgets, and the interface of the mechanisms that enforce them."""

from typing import NamedTuple, Protocol

MIB = 1024 * 1024


class Unavailable(Exception):
    """The machine does not have this mechanism. `str()` names the missing part."""


class Limits(NamedTuple):
    """The limits of a budget; None means no limit. `cpus`: the CPU quota in cores. `memory`: in bytes."""

    cpus: float | None
    memory: int | None


# The original service's pod had at most 512 MiB. It requested a quarter of a core, and had no CPU limit. The
# budget `burst` has a CPU limit of one core.
LIMITS = {"burst": Limits(1.0, 512 * MIB), "capped": Limits(0.25, 512 * MIB), "none": Limits(None, None)}


class Budget(Protocol):
    """A budget. `how`: the name of the mechanism. `limited`: whether the mechanism enforces the CPU limit."""

    how: str
    limited: bool

    def command(self, command: list[str], environment: dict[str, str]) -> list[str]:
        """Returns the command line that runs `command` within the budget."""
        ...

    def attach(self, pid: int) -> None:
        """Prepares to measure the process `pid`, which runs the command line that `command` returned."""
        ...

    def cpu_seconds(self) -> float:
        """Returns the CPU seconds used within the budget so far."""
        ...

    def peak_bytes(self) -> int | None:
        """Returns the highest memory use so far in bytes, or None if the mechanism does not measure it."""
        ...

    def close(self) -> None:
        """Removes the budget. Cgroups and Docker also kill the processes that still run in it."""
        ...
