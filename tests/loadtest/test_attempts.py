"""An attack that another virtual machine has disturbed is repeated."""

from pathlib import Path
from typing import Any

import pytest

from app.settings import NEWEST
from loadtest import interleaved
from loadtest.interleaved import ATTEMPTS, Case, undisturbed
from loadtest.record.shapes import Load, Measurement
from loadtest.report import documents
from loadtest.stage import subject
from local.machine import FOREIGN_CORES, SLOWDOWN, STOLEN_CORES

CALM: dict[str, Any] = {"slowdown": SLOWDOWN, "stolen_cores": STOLEN_CORES, "foreign_cores": FOREIGN_CORES}
SLOW, STOLEN = CALM | {"slowdown": SLOWDOWN + 0.1}, CALM | {"stolen_cores": STOLEN_CORES + 0.1}
BUSY = CALM | {"foreign_cores": FOREIGN_CORES + 0.1}  # other programs of the user, which will still be there
LOAD = Load(rate=50, duration_s=0.5, timeout_s=30)


def measured(conditions: dict[str, Any], *lost: str) -> Measurement:
    """A measurement under these conditions, in whose audit the events `lost` are missing."""
    found = documents.newest("history")[0].of("published", NEWEST)[0].model_copy(deep=True)
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
def test_attempts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, attempts: list[Measurement], used: int) -> None:
    """The last attempt counts. A failed audit is a finding, whatever else the machine did."""
    waiting = iter(attempts)
    monkeypatch.setattr(interleaved, "measure", lambda *_, **__: next(waiting))
    case = Case("published", subject.release(NEWEST), "none", LOAD)
    stack: Any = None
    assert undisturbed(stack, case, tmp_path / "raw") is attempts[used - 1]
    assert list(waiting) == []
