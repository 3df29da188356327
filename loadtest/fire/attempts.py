"""Repeats an attack that another virtual machine has disturbed."""

import sys
from collections.abc import Callable
from typing import TypeVar

from loadtest.record.shapes import Conditions, Measurement
from local.machine import Busy

# If another virtual machine is busy for a third of the time, all three attempts are disturbed once in 27 attacks.
ATTEMPTS = 3
Attacked = TypeVar("Attacked")


def undisturbed(name: str, attack: Callable[[], Attacked], measurement: Callable[[Attacked], Measurement]) -> Attacked:
    """Returns the first attempt that was not disturbed or whose audit failed, or otherwise the last attempt.

    `name`: the attack's name, for a line on standard error. `measurement` returns the measurement of an attempt.
    """
    for attempt in range(1, ATTEMPTS + 1):
        attacked = attack()
        measured = measurement(attacked)
        failed = measured.audit is not None and not measured.audit.holds
        if failed or measured.conditions is None or not _disturbed(measured.conditions):
            break
        print(f"{name}: attempt {attempt} of {ATTEMPTS} was disturbed", file=sys.stderr)
    return attacked


def _disturbed(conditions: Conditions) -> bool:
    """Returns True if another virtual machine slowed this machine down, so that another attempt may succeed."""
    return bool(Busy(0, conditions.stolen_cores, conditions.slowdown or 1).doubts())
