"""Random runs beyond the bound: several faults, more workers, wrong clocks, and commands at the same time."""

from tests.simulation.machine import search_randomly


def test_random_runs_end_well() -> None:
    """When the faults stop, each charge is made once and every message has ended. Other seeds: --random and --seed."""
    search_randomly(60, 1)
