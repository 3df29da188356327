"""Searches all runs of the webhook's path within a bound, each from its start."""

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.simulation.errors import unexpected_errors
from tests.simulation.steps import Violation
from tests.simulation.webhooks.bound import Bound
from tests.simulation.webhooks.choices import Step, steps
from tests.simulation.webhooks.path import PathRun

# The fastest to search come first.
_SMALL = (
    *(Bound(1, 0, 1, webhooks, long_lived) for webhooks, long_lived in ((1, False), (1, True), (2, True))),
    Bound(1, 1, 0, webhooks=1),
    Bound(1, 1, 0),
    Bound(1, 1, 0, full=True),
    *(Bound(2, 0, 1, long_lived=long_lived) for long_lived in (False, True)),
    Bound(2, 1, 0),
    Bound(1, 2, 0),
)


@dataclass
class Found:
    """The numbers of a search, and the first violation with its steps."""

    runs: int = 0
    steps: int = 0
    violation: str | None = None
    trace: list[str] = field(default_factory=list)


def search(bound: Bound, show: Callable[[Found], None] = lambda _: None) -> Found:
    """Explores the runs depth-first, until one violates an invariant. Calls `show` after each run."""
    with unexpected_errors() as errors:
        return _search(bound, show, errors)


def _search(bound: Bound, show: Callable[[Found], None], errors: list[str]) -> Found:
    found = Found()
    path: list[tuple[int, int]] = []  # for each choice, the number of options and the chosen option
    while True:
        found.runs += 1
        trace: list[str] = []
        run = PathRun(bound)
        try:
            _follow(run, bound, path, trace)
            if errors:
                raise Violation(f"logged: {errors[0]}")
        except Violation as violation:
            found.violation, found.trace = str(violation), trace
            return found
        finally:
            found.steps += len(trace)
            run.loop.end()
        show(found)
        while path and path[-1][1] + 1 == path[-1][0]:
            path.pop()
        if not path:
            return found
        options, chosen = path.pop()
        path.append((options, chosen + 1))


def _follow(run: PathRun, bound: Bound, path: list[tuple[int, int]], trace: list[str]) -> None:
    """Takes the steps that `path` has chosen, and then always the first step, until the run ends."""
    faults, specials = bound.faults, bound.specials
    depth = 0
    while options := [one for one in steps(run) if one.fault <= faults and one.special <= specials]:
        chosen = 0
        if len(options) > 1:
            if depth == len(path):
                path.append((len(options), 0))
            chosen = path[depth][1]
            depth += 1
        step: Step = options[chosen]
        trace.append(str(step))
        faults, specials = faults - step.fault, specials - step.special
        step.take()
        run.check()
    run.end()


def first_violation() -> tuple[str | None, int]:
    """Returns the first violation in a few small bounds, and the number of runs."""
    runs = 0
    for bound in _SMALL:
        found = search(bound)
        runs += found.runs
        if found.violation:
            return found.violation, runs
    return None, runs
