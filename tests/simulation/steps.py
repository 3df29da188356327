"""The steps that a scheduler may choose, the processes and calls that return later, and the list of calls."""

from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

from tests.simulation.calls import Call, Fault
from tests.simulation.processes import Process

if TYPE_CHECKING:
    from tests.simulation.actors import Action


class Violation(AssertionError):
    """An invariant does not hold."""


class Kind(Enum):
    """The kinds of steps: perform a call, wake a stalled process, let a late call arrive, or let time pass.

    ACT: an actor acts. END: every message has ended, and the run ends without another action.
    """

    CALL = auto()
    TIMER = auto()
    WAKE = auto()
    ARRIVE = auto()
    TIME = auto()
    ACT = auto()
    END = auto()


class Step(NamedTuple):
    """A step that the scheduler may choose.

    `overtakes`: whether the call overtakes an earlier call of the same process. `preemptions`: how many preemptions the
    step costs: one if it overtakes, and one if the process that made the last step could continue instead.
    """

    kind: Kind
    process: Process | None = None
    call: Call | None = None
    fault: Fault | None = None
    overtakes: bool = False
    preemptions: int = 0
    action: "Action | None" = None

    @property
    def identity(self) -> tuple[object, ...]:
        """Identifies the step among the steps of one state."""
        call = self.call.number if self.call else 0
        return self.kind.name, self.process.name if self.process else "", call, self.fault or "", str(self.action or "")


class Returning(NamedTuple):
    """A stalled process, or a late call of `process`. It returns between the times `since` and `until`."""

    process: Process
    call: Call | None
    fault: Fault
    outcome: object
    since: float
    until: float


class Traced(NamedTuple):
    """An entry of the list of calls."""

    at: float
    process: str
    what: str
    call: Call | None = None

    def __str__(self) -> str:
        subject = f" {self.call.operation} {self.call.subject()}".rstrip() if self.call else ""
        return f"{self.at:8.2f} s  {self.process} {self.what}{subject}"
