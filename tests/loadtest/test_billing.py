"""Runs a small `python -m loadtest billing`: events through workers that are killed."""

from pathlib import Path

import pytest

from loadtest.billing import bill
from loadtest.stage.worker_stack import Rules

pytestmark = pytest.mark.usefixtures("tools")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_each_charge_once(thorough: bool, tmp_path: Path) -> None:
    """Nothing is lost, charged twice or closed twice. Messages that can never succeed are dead letters with reasons."""
    rules = Rules(rate=3500, errors=0.05, seed=11, lease_s=6, call_timeout_s=3, visibility_s=6, retry_s=1)
    done = bill(500 if thorough else 100, rules, tmp_path / "workers.log", kills=True)
    assert done.holds, done.text()
    assert done.kills
    assert done.by_person
    assert done.rewritten
    assert sum(done.dead_letters.values()) >= done.poison > 0
