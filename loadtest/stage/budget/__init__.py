"""Limits the CPU and memory of the process under attack, with a mechanism that the machine has.

On a machine without such a mechanism, nothing is limited: `Budget.limited` is False, and only the use is measured.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from loadtest.stage.budget import cgroup_v1, cgroup_v2, docker, process_tree
from loadtest.stage.budget.budget_limits import LIMITS, Budget, Limits, Unavailable

__all__ = ["LIMITS", "Budget", "Limits", "Unavailable", "doubts", "open_budget"]

MECHANISMS: dict[str, Callable[[Limits], Budget]] = {
    "cgroup v2": cgroup_v2.CgroupV2,
    "cgroup v1": cgroup_v1.CgroupV1,
    "Docker": docker.Docker,
}


@contextmanager
def open_budget(name: str) -> Iterator[Budget]:
    """Opens the budget `name` (`burst`, `capped` or `none`), and removes it at the end of the context.

    At the end, cgroups and Docker kill the processes that still run in the budget. The environment variable
    LOADTEST_BUDGET names one of MECHANISMS, or `process tree`, which limits nothing. Without this variable, the budget
    uses the first of MECHANISMS that the machine has or, if there is none, the process tree.

    Raises Unavailable if LOADTEST_BUDGET names an unknown mechanism, or one that the machine does not have.
    """
    budget = _choose(LIMITS[name], os.environ.get("LOADTEST_BUDGET"))
    try:
        yield budget
    finally:
        budget.close()


def doubts(name: str, budget: Budget) -> list[str]:
    """Returns a reason to doubt figures under `budget` if it does not enforce the CPU limit of `name`, or else []."""
    cpus = LIMITS[name].cpus
    if cpus is None or budget.limited:
        return []
    return [f"the CPU was not limited ({cpus:g} cores): that needs root or Docker"]


def _choose(limits: Limits, wanted: str | None) -> Budget:
    if wanted is not None and wanted not in (*MECHANISMS, process_tree.NAME):
        raise Unavailable(f"LOADTEST_BUDGET={wanted}: allowed is {', '.join((*MECHANISMS, process_tree.NAME))}")
    for name, mechanism in MECHANISMS.items():
        if wanted in (None, name):
            try:
                return mechanism(limits)
            except Unavailable as reason:
                if wanted is not None:
                    raise Unavailable(f"LOADTEST_BUDGET={wanted}: not on this machine ({reason})") from None
    return process_tree.ProcessTree(limits)
