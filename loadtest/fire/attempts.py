"""Repeats an attack that another virtual machine has disturbed."""

import sys
from collections.abc import Callable
from typing import TypeVar

from loadtest.record.shapes import Conditions, Measurement
from local.machine import Busy

# If another virtual machine is busy for a third of the time, it disturbs all three attempts of one attack in 27.
ATTEMPTS = 3
Attacked = TypeVar("Attacked")


def undisturbed(name: str, attack: Callable[[], Attacked], measurement: Callable[[Attacked], Measurement]) -> Attacked:
    """Attacks until an attempt is undisturbed or its audit fails, at most ATTEMPTS times. Returns the last attempt.

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
    """Returns True if another virtual machine slowed this machine down. Another attempt may then be undisturbed."""
    return bool(Busy(0, conditions.stolen_cores, conditions.slowdown or 1).doubts())
