"""A soak: what got 200 is in the queue, whatever happens to the service and to SQS."""

from itertools import islice
from pathlib import Path

import pytest

from app.settings import NEWEST
from loadtest.fire.faults import KINDS, plan
from loadtest.fire.supervised import Supervised
from loadtest.report import soak as report
from loadtest.soak import soak
from loadtest.stage import subject

pytestmark = pytest.mark.usefixtures("tools")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_nothing_that_got_200_is_lost(thorough: bool, tmp_path: Path) -> None:
    """Kills, stops and faults of SQS lose no acknowledged webhook. `make test-all` sends a tenth of a whole soak."""
    webhooks, rate = (100_000, 1000) if thorough else (4000, 400)
    done = soak(webhooks, rate, 7, tmp_path / "raw")
    assert done.audit.holds, report.text(done)
    assert done.audit.accepted > 0, report.text(done)
    assert done.faults
    # vegeta leaves out those that are late when its time is over; by how much, the machine decides.
    assert 0.5 * webhooks < done.webhooks <= webhooks


def test_ctrl_c_while_the_service_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The service ends, although `with` calls no `__exit__` after an interrupted `__enter__`."""
    service = Supervised(subject.release(NEWEST), {}, tmp_path / "service.log")

    def interrupted(timeout: float) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(service, "_one", service._ended.wait)
    monkeypatch.setattr(service._ready, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        service.__enter__()
    assert not service._thread.is_alive()


def test_a_seed_decides() -> None:
    """The same seed plans the same faults, and each kind of fault occurs."""
    first, again, other = ([*islice(plan(seed), 200)] for seed in (3, 3, 4))
    assert first == again != other
    assert {step.kind for step in first} == set(KINDS)
