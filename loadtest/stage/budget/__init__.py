"""Limits the CPU and memory of the process under attack, by the mechanism that the machine has.

Without any, `limited` is False and only the use is measured.
"""

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
    """The budget `name`: `burst`, `capped` or `none`. At the end its processes are killed and it is removed.

    LOADTEST_BUDGET names one of MECHANISMS, or `process tree`, which limits nothing. Raises Unavailable for one that
    the machine lacks; without LOADTEST_BUDGET and any mechanism, the process tree is measured, not limited.
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
