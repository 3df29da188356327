"""An attack that another virtual machine has disturbed is repeated."""

from typing import Any

import pytest

from app.settings import Release
from loadtest.fire.attempts import ATTEMPTS, undisturbed
from loadtest.record.shapes import Measurement
from loadtest.report import documents
from local.machine import FOREIGN_CORES, SLOWDOWN, STOLEN_CORES

CALM: dict[str, Any] = {"slowdown": SLOWDOWN, "stolen_cores": STOLEN_CORES, "foreign_cores": FOREIGN_CORES}
SLOW, STOLEN = CALM | {"slowdown": SLOWDOWN + 0.1}, CALM | {"stolen_cores": STOLEN_CORES + 0.1}
BUSY = CALM | {"foreign_cores": FOREIGN_CORES + 0.1}  # the user's programs would disturb another attempt, too


def measured(conditions: dict[str, Any], *lost: str) -> Measurement:
    """Returns a measurement with these conditions, and with an audit in which the events `lost` are lost."""
    found = documents.newest("history")[0].of("published", Release.V09_GROUP_COMMIT)[0].model_copy(deep=True)
    assert found.conditions is not None
    assert found.audit is not None
    found.audit.lost.extend(lost)
    return found.model_copy(update={"conditions": found.conditions.model_copy(update=conditions)})


@pytest.mark.parametrize(
    ("attempts", "used"),
    [
        ([measured(CALM)], 1),
        ([measured(BUSY)], 1),
        ([measured(SLOW), measured(CALM)], 2),
        ([measured(STOLEN), measured(SLOW), measured(CALM)], 3),
        ([measured(SLOW)] * ATTEMPTS, ATTEMPTS),
        ([measured(SLOW, "ev_lost")], 1),
    ],
    ids=["calm", "other programs", "once", "twice", "always", "failed audit"],
)
def test_attempts(attempts: list[Measurement], used: int) -> None:
    """The last attempt counts. An attempt with a failed audit is not repeated, even if the machine was disturbed."""
    waiting = iter(attempts)
    assert undisturbed("an attack", lambda: next(waiting), lambda made: made) is attempts[used - 1]
    assert list(waiting) == []
