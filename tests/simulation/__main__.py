"""`python -m tests.simulation`: searches every order and every fault within a bound, or hunts the mutants."""

import os
import sys

import click

from tests.simulation import record, report
from tests.simulation.planted import ALL_MUTANTS
from tests.simulation.scenarios import BESIDE, SCENARIOS, TWICE
from tests.simulation.search import Bound

# With `--others 0`, an actor acts in these scenarios only, which are short.
WITH_ACTORS = (
    TWICE.name,
    "a late billable event",
    "a second version, later",
    "two invoices, one period",
    "poison",
)


@click.command()
@click.option("--bound", type=click.IntRange(0, 6), default=4, show_default=True, help="Most preemptions.")
@click.option(
    "--others", type=click.IntRange(0, 6), default=1, show_default=True, help="The same, for other scenarios."
)
@click.option("--mutants", is_flag=True, help="Hunt the planted faults instead, and print their table.")
@click.option("--within", type=click.IntRange(1), help="Only mutants whose recorded hunt took at most this many runs.")
@click.option("--random", "examples", type=click.IntRange(1), help="Draw this many random runs instead.")
@click.option("--seed", type=int, default=1, show_default=True, help="The seed of the random runs.")
@click.option("--only", default="", help="Only the scenarios, or the mutants, whose names contain this text.")
@click.option("--processes", type=click.IntRange(1), default=os.cpu_count() or 1, show_default=True)
def main(
    bound: int,
    others: int,
    mutants: bool,
    within: int | None,
    examples: int | None,
    seed: int,
    only: str,
    processes: int,
) -> None:
    """Search every order of the calls of two workers, and every fault of every call, in virtual time.

    A line shows the progress, if standard error is a terminal. The exit code is 1 after a violation, or if a mutant
    survives. Ctrl-C ends all processes and leaves no files.
    """
    if mutants:
        slow = record.slow_mutants(within) if within else set()
        hunted = [one for one in ALL_MUTANTS if only in one.name and one.name not in slow]
        sys.exit(bool(report.hunt_and_print(hunted, processes)))
    if examples is not None:
        report.search_and_print(examples, seed)
        return
    bounds = [(one, Bound(bound if one is TWICE else min(bound, others))) for one in SCENARIOS]
    bounds += [(one, Bound(0, 0, 1)) for one in SCENARIOS if others or one.name in WITH_ACTORS]
    bounds += [(BESIDE, Bound(*most)) for most in ((0, 1, 1), (0, 0, 2), (1, 0, 1))] if others else []
    bounds = [one for one in bounds if only in one[0].name]
    sys.exit(bool(report.search_all(bounds, processes)))


if __name__ == "__main__":
    main()
