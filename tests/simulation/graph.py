"""The states of a search and the transitions between them, to decide what is explored and to count the schedules.

A state does not contain the process that made the last step, nor how many preemptions are left. Both only limit the
schedules that continue from the state.
"""

from collections import defaultdict
from typing import NamedTuple

from tests.simulation.steps import Kind, Step

END = b""


class Position(NamedTuple):
    """A state with the last process, and with the number of preemptions that are left."""

    state: bytes
    last: str
    preemptions: int


class Transition(NamedTuple):
    """A step from one state to another.

    `process`: None if an actor acts. `leaves`: a stalled process wakes, or a late call arrives. `overtakes`: the step
    overtakes an earlier call of the same process, which costs a preemption. `after`: the state after the step. `last`:
    the process of the last step, or None if the step does not change it.
    """

    process: str | None
    leaves: bool
    overtakes: bool
    after: bytes
    last: str | None


class Graph:
    """The states and schedules that a search has explored.

    `below`: how many schedules follow a transition that another search has explored, by preemptions left.
    """

    def __init__(self) -> None:
        self.transitions: dict[bytes, dict[tuple[object, ...], Transition]] = defaultdict(dict)
        self._continuing: dict[bytes, frozenset[str]] = {}
        self._explored: dict[bytes, dict[str, int]] = defaultdict(dict)
        self._counts: dict[Position, int] = {}
        self.below: dict[tuple[bytes, tuple[object, ...]], list[int]] = {}

    @property
    def states(self) -> set[bytes]:
        return set(self._continuing)

    def enter(self, position: Position, steps: list[Step]) -> bool:
        """Returns whether the search must explore the steps of a position.

        The search skips the position if it has explored the same state after a step of the same process, with at least
        as many preemptions left. If the earlier step was a step of another process, one more preemption must have been
        left. In both cases, the search already includes all schedules from this position.
        """
        explored = self._explored[position.state]
        for last, preemptions in explored.items():
            if preemptions >= position.preemptions + (last != position.last):
                return False
        explored[position.last] = position.preemptions
        self._continuing[position.state] = frozenset(
            step.process.name
            for step in steps
            if step.kind in (Kind.CALL, Kind.TIMER) and step.process and step.fault is None
        ) | self._continuing.get(position.state, frozenset())
        return True

    def add(self, before: bytes, step: Step, after: Position) -> None:
        process = step.process.name if step.process else ""
        leaves = step.kind in (Kind.WAKE, Kind.ARRIVE)
        acts = step.kind in (Kind.ACT, Kind.END)
        last = None if acts and (step.action is None or not step.action.starts) else after.last
        found = Transition(None if acts else process, leaves, step.overtakes, after.state, last)
        self.transitions[before][step.identity] = found

    def count(self, position: Position) -> int:
        """Returns the number of complete schedules from a position that was explored."""
        if position.state == END:
            return 1
        if (known := self._counts.get(position)) is not None:
            return known
        total = 0
        goes_on = position.last in self._continuing[position.state]
        for identity, one in self.transitions[position.state].items():
            switches = one.leaves or one.process not in (None, position.last)
            cost = one.overtakes + (goes_on and switches)
            left = position.preemptions - cost
            if left < 0:
                continue
            if (below := self.below.get((position.state, identity))) is not None:
                total += below[left]
            else:
                total += self.count(Position(one.after, position.last if one.last is None else one.last, left))
        self._counts[position] = total
        return total
