"""Searches all runs of a scenario within a bound: depth-first over the scheduler's choices, each run from the start.

Two schedules that lead to the same state have the same future, because the processes are deterministic. So the search
explores each state once, and counts the schedules afterwards.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.simulation.actors import act, possible
from tests.simulation.calls import Fault
from tests.simulation.commands import check_recovery
from tests.simulation.graph import END, Graph, Position
from tests.simulation.run import Run
from tests.simulation.scenarios import Scenario
from tests.simulation.steps import Kind, Step, Violation


class Bound(NamedTuple):
    """The maximum numbers of preemptions, faults and actions in each run."""

    preemptions: int
    faults: int = 1
    actions: int = 0


class Failure(NamedTuple):
    """A run that violates an invariant. `choices` repeats the run; `calls` is the list of its steps."""

    scenario: str
    what: str
    choices: tuple[int, ...]
    calls: tuple[str, ...]


class Deferred(NamedTuple):
    """A fault to explore later. `choices` lead to the fault.

    `label`: the process, the number of the call, and the fault. `left`: how many preemptions are left. `state`,
    `identity`: the state and the step.
    """

    label: tuple[str, int, Fault]
    left: int
    choices: tuple[int, ...]
    state: bytes
    identity: tuple[object, ...]
    overtakes: bool


@dataclass
class Found:
    """The numbers and the violations of a search.

    `schedules`: complete schedules within the bound; `runs`: executed runs, most of which end in a known state;
    `states`: different states in which there is a choice; `crash_points`: how many states each fault of each call has
    hit.
    """

    schedules: int = 0
    runs: int = 0
    steps: int = 0
    states: set[bytes] = field(default_factory=set)
    crash_points: Counter[tuple[str, int, str]] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)

    def add(self, other: "Found") -> None:
        self.schedules += other.schedules
        self.runs += other.runs
        self.steps += other.steps
        self.states |= other.states
        self.crash_points += other.crash_points
        self.failures += other.failures


@dataclass
class _Node:
    """A choice on the current path: which of `options` steps the search has chosen."""

    position: Position
    options: int
    chosen: int = 0


class Search:
    """A depth-first search of all runs that begin with the choices `prefix`. The search adds its states to `graph`.

    If `deferred` is a list, the search does not explore faults. Instead, it adds each possible first fault to the list.
    """

    def __init__(
        self,
        scenario: Scenario,
        bound: Bound,
        graph: Graph,
        prefix: Sequence[int] = (),
        deferred: list[Deferred] | None = None,
        most_failures: int = 3,
    ) -> None:
        self._scenario, self._bound, self._prefix = scenario, bound, tuple(prefix)
        self._graph, self._deferred = graph, deferred
        self._most_failures = most_failures
        self._path: list[_Node] = []
        self._step: Step | None = None
        self.first: Position | None = None
        self.found = Found()

    def run(self) -> Found:
        """Explores all runs, but ends after `most_failures` failed runs."""
        while True:
            self.run_once()
            if len(self.found.failures) >= self._most_failures or not self._advance():
                return self.found

    def run_once(self) -> None:
        """Runs along the current path, and then along the first choices, until the end or a known state."""
        self.found.runs += 1
        run = Run(self._scenario)
        try:
            self._follow(run)
        except Violation as violation:
            self._reach(Position(END, "", 0))
            calls = tuple(map(str, run.world.trace))
            self.found.failures.append(Failure(self._scenario.name, str(violation), self._choices(), calls))
        finally:
            self.found.steps += len(run.world.trace)
            run.world.end()

    def _advance(self) -> bool:
        """Moves to the next path. Returns False if there is none."""
        while self._path:
            self._path[-1].chosen += 1
            if self._path[-1].chosen < self._path[-1].options:
                return True
            self._path.pop()
        return False

    def _follow(self, run: Run) -> None:
        world, depth = run.world, 0
        preemptions, faults, actions = self._bound
        run.check()
        while True:
            steps = _steps(run, preemptions, faults, actions)
            chosen = 0
            if len(steps) > 1:
                place = depth - len(self._prefix)
                if place < 0:
                    chosen = self._prefix[depth]
                else:
                    if place == len(self._path):
                        last = world.current.name if world.current else ""
                        position = Position(world.digest(faults, actions, run.facts.key()), last, preemptions)
                        self._reach(position)
                        if not self._enter(position, steps):
                            return
                    chosen = self._path[place].chosen
                    self._step = steps[chosen]
                depth += 1
            step = steps[chosen]
            if step.kind is Kind.END:
                break
            preemptions -= step.preemptions
            faults -= step.fault is not None
            if step.action is not None:
                actions -= 1
                act(run, step.action)
            else:
                world.take(step)
            if depth >= len(self._prefix) + len(self._path):  # earlier runs have checked the earlier steps
                run.check()
        run.audit.check_end()
        if run.facts.acted:
            check_recovery(run)
        self._reach(Position(END, "", 0))

    def _reach(self, position: Position) -> None:
        """Adds the transition to the position to the graph."""
        if self._path:
            assert self._step is not None
            self._graph.add(self._path[-1].position.state, self._step, position)
        elif self.first is None:
            self.first = position

    def _enter(self, position: Position, steps: list[Step]) -> bool:
        """Adds a choice to the path and returns True, or returns False if the search has explored the state."""
        if not self._graph.enter(position, steps):
            return False
        self.found.states.add(position.state)
        options = len(steps)
        if self._deferred is not None:
            for number, step in enumerate(steps):
                if step.fault is not None and step.process is not None:
                    label = step.process.name, step.call.number if step.call else 0, step.fault
                    left = position.preemptions - step.preemptions
                    choices = (*self._choices(), number)
                    self._deferred.append(Deferred(label, left, choices, position.state, step.identity, step.overtakes))
                    options -= 1
        self._path.append(_Node(position, options))
        return True

    def _choices(self) -> tuple[int, ...]:
        return (*self._prefix, *(node.chosen for node in self._path))


def _steps(run: Run, preemptions: int, faults: int, actions: int) -> list[Step]:
    """Returns the next steps. Steps with a fault come last."""
    over = run.is_over()
    steps = [Step(Kind.END)] if over else run.world.steps(preemptions, faults)
    if not actions:
        return steps
    usual = [step for step in steps if step.fault is None]
    return usual + possible(run) + steps[len(usual) :]


def replay(scenario: Scenario, bound: Bound, choices: Sequence[int]) -> Failure | None:
    """Repeats the run that makes `choices`, and then always the first choice. Returns the failure, or None."""
    search = Search(scenario, bound, Graph(), choices)
    search.run_once()
    return search.found.failures[0] if search.found.failures else None
