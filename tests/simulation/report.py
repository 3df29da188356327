"""Prints what the exhaustive search and the hunt for mutants have found."""

import sys
from collections import Counter
from collections.abc import Sequence

from app.terminal import draws
from tests.simulation.exhaustive import explore
from tests.simulation.hunt import Hunted, hunt_all
from tests.simulation.machine import search_randomly
from tests.simulation.mutants import Mutant
from tests.simulation.scenarios import Scenario
from tests.simulation.search import Bound, Failure, Found

_BOUND = ("preemptions", "faults", "actions")
_HEAD = ("scenario", *_BOUND, "schedules", "crash points", "runs", "states", "seconds", "violations")


def search_all(bounds: Sequence[tuple[Scenario, Bound]], processes: int) -> int:
    """Explores each scenario within its bound, and prints a line for each. Returns the number of violations."""
    print("| " + " | ".join(_HEAD) + " |")
    print("|---|" + "---:|" * (len(_HEAD) - 1))
    whole, seconds, points, failures = Found(), 0.0, 0, 0
    for scenario, bound in bounds:
        found, took = explore(scenario, bound, processes, _show)
        _line(scenario.name, " | ".join(map(str, bound)), found, took, len(found.crash_points))
        failures += len(found.failures)
        for failure in found.failures:
            _show_failure(failure)
        points += len(found.crash_points)
        found.crash_points = Counter()
        whole.add(found)
        seconds += took
    _line("**together**", " | " * (len(_BOUND) - 1), whole, seconds, points)
    return failures


def hunt_and_print(mutants: Sequence[Mutant], processes: int) -> int:
    """Hunts all mutants and prints a line for each. Returns the number of mutants that survive."""
    print("| mutant | file | found by | after runs | violation |")
    print("|---|---|---|---:|---|")
    survivors = 0
    for hunted in hunt_all(mutants, processes):
        survivors += hunted.violation is None
        _hunted(hunted)
    print(f"\n{len(mutants)} mutants, {survivors} survive")
    return survivors


def search_and_print(examples: int, seed: int) -> None:
    """Draws random runs, and prints the seed. Raises the first violation with its shrunk list of calls."""
    print(f"seed {seed}: {examples:,} random runs", flush=True)
    search_randomly(examples, seed)
    print("0 violations")


def _hunted(hunted: Hunted) -> None:
    mutant = hunted.mutant
    violation = hunted.violation or "**survives**"
    print(f"| {mutant.name} | `{mutant.file}` | {mutant.run} | {hunted.runs:,} | {violation} |", flush=True)


def _line(name: str, bound: str, found: Found, seconds: float, points: int) -> None:
    figures = (found.schedules, points, found.runs, len(found.states))
    shown = " | ".join(f"{figure:,}" for figure in figures)
    print(f"| {name} | {bound} | {shown} | {seconds:.0f} | {len(found.failures)} |", flush=True)


def _show(done: int, tasks: int, found: Found) -> None:
    """Shows the progress in one line of a terminal."""
    if draws(sys.stderr):
        text = f"{done} of {tasks} faults, {found.runs:,} runs, {len(found.failures)} violations"
        print(f"\r{text:79}", end="\r" if done < tasks else "\r" + " " * 79 + "\r", file=sys.stderr, flush=True)


def _show_failure(failure: Failure) -> None:
    print(f"\n{failure.scenario}: {failure.what}")
    print(*failure.calls, sep="\n")
    print(f"choices: {','.join(map(str, failure.choices))}\n")
