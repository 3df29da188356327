"""Random runs beyond the bound: several faults, more workers, wrong clocks, and commands at the same time."""

from tests.simulation.machine import search_randomly


def test_random_runs_end_well() -> None:
    """When no more faults happen, each charge is made once and every message ends. --random --seed draw others."""
    search_randomly(60, 1)
