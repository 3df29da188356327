"""The planted faults fit the source, and the simulation finds a few of them; `--mutants` hunts all."""

import pytest

from tests.simulation import hunt
from tests.simulation.hunt import SEARCHES, hunt_all, planted
from tests.simulation.mutants import MUTANTS, Mutant
from tests.simulation.planted import ALL_MUTANTS
from tests.simulation.scenarios import SCENARIOS

QUICK = ("close before the last charge", "delete before done")


@pytest.mark.parametrize("mutant", ALL_MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_fits_the_source(mutant: Mutant) -> None:
    """The replaced text is in the source once, and the named run exists."""
    assert planted(mutant)
    assert mutant.run in {scenario.name for scenario in SCENARIOS} | SEARCHES.keys()


def test_a_planted_fault_is_found() -> None:
    quick = [mutant for mutant in MUTANTS if mutant.name in QUICK]
    assert len(quick) == len(QUICK)
    for hunted in hunt_all(quick, 1):
        assert hunted.violation is not None, hunted.mutant.name


def test_a_search_without_an_end_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """If a fault makes the code run for ever, an error names the fault, so that other hunts do not wait for ever."""
    monkeypatch.setattr(hunt, "PATIENCE", 0.0)
    with pytest.raises(TimeoutError, match=MUTANTS[0].name):
        list(hunt_all(MUTANTS[:1], 1))
