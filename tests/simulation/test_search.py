"""The exhaustive search in a small bound: no order and no fault of a call breaks an invariant."""

import pytest

from tests.simulation.exhaustive import explore
from tests.simulation.scenarios import SCENARIOS, TWICE, Scenario
from tests.simulation.search import Bound


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_single_preemption_breaks_no_invariant(scenario: Scenario) -> None:
    """Without faults, every order of calls with at most one preemption ends well."""
    found, _ = explore(scenario, Bound(1, 0))
    assert found.failures == []
    assert found.schedules > len(found.states)


def test_no_fault_of_any_call_breaks_an_invariant() -> None:
    """Each run has one fault. Over all runs, each kind of fault hits each call that it can hit."""
    found, _ = explore(TWICE, Bound(0, 1))
    assert found.failures == []
    assert {fault for _, _, fault in found.crash_points} == {fault.value for fault in TWICE.faults}


@pytest.mark.parametrize("name", ["one event, delivered twice", "poison"])
def test_no_action_beside_the_workers_breaks_an_invariant(name: str) -> None:
    """In each run, one actor acts once, between any two calls, without a fault or a preemption."""
    [scenario] = [one for one in SCENARIOS if one.name == name]
    found, _ = explore(scenario, Bound(0, 0, 1))
    assert found.failures == []
    assert found.schedules > len(found.states)
