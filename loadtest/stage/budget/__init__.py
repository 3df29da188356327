"""How much CPU and memory what is attacked may use, by what the machine has; it says so where it has nothing."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from loadtest.stage.budget import cgroup_v1, cgroup_v2, docker, process_tree, systemd
from loadtest.stage.budget.limits import LIMITS, Budget, Limits, Unavailable

__all__ = ["LIMITS", "Budget", "Limits", "Unavailable", "open_budget"]

MECHANISMS: dict[str, Callable[[Limits], Budget]] = {
    "cgroup v2": cgroup_v2.CgroupV2,
    "cgroup v1": cgroup_v1.CgroupV1,
    "systemd scope": systemd.SystemdScope,
    "Docker": docker.Docker,
}


@contextmanager
def open_budget(name: str) -> Iterator[Budget]:
    """The budget called `name`: `burst`, `capped` or `none`. Gone at the end, whatever was in it is killed before.

    LOADTEST_BUDGET names one of MECHANISMS, or `process tree`, which limits nothing. Raises Unavailable for one that
    the machine has not; where none was named and the machine has none, the process tree is measured, not limited.
    """
    budget = _choose(LIMITS[name], os.environ.get("LOADTEST_BUDGET"))
    try:
        yield budget
    finally:
        budget.close()


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
