"""Computes how much of the budget a subject has used."""

from loadtest.record.shapes import Used
from loadtest.stage.budget import LIMITS, Budget
from loadtest.stage.budget.budget_limits import MIB
from loadtest.stage.subject import Running


def used_of(name: str, budget: Budget, running: Running, cpu_s: float) -> Used:
    """Returns how much of `budget`, named `name`, was used. `cpu_s`: the service's CPU seconds during the attack."""
    limits = LIMITS[name]
    peak = budget.peak_bytes()
    return Used(
        budget=name,
        how=budget.how,
        limited=budget.limited,
        cpus=limits.cpus,
        memory_mib=limits.memory and limits.memory / MIB,
        cpu_s=cpu_s,
        cpu_ms_per_accepted=None,
        peak_mib=peak and peak / MIB,
        ready_s=running.ready_s,
    )
