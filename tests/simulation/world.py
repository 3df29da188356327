"""The simulated world: virtual time, the servers, the processes, and the next steps that a scheduler may choose.

A call takes effect, and its answer arrives, when the scheduler chooses the call. Time passes only if no call can be
made, or if a process waits for at most NEAR seconds. So the scheduler decides the order of all calls.
"""

from collections.abc import Iterable, Iterator
from hashlib import blake2b

from tests.simulation.calls import Call, Fault
from tests.simulation.loop import RESOLUTION
from tests.simulation.performing import arrive, perform, stall, wake
from tests.simulation.processes import EPOCH, Process, State
from tests.simulation.queues import MemorySqs
from tests.simulation.site import MemorySite
from tests.simulation.steps import Kind, Returning, Step, Traced, Violation
from tests.simulation.table import MemoryTable

# A process that waits for at most this number of seconds competes with the calls of other processes.
NEAR = 2.0


class World:
    """The world. `stall`: the shortest time in seconds for which a process stalls. `kinds`: the possible faults."""

    def __init__(self, stall: float, call_timeout: float, kinds: Iterable[Fault]) -> None:
        self.kinds = sorted(kinds)
        self.now = 0.0
        self.table = MemoryTable()
        self.site: MemorySite
        self.sqs: MemorySqs
        self.processes: list[Process] = []
        self.current: Process | None = None
        self.stalled: list[Returning] = []
        self.late: list[Returning] = []
        self.call_timeout = call_timeout
        self.trace: list[Traced] = []
        self.failure: str | None = None
        self.closed = False
        self.stall = stall

    def unix(self) -> float:
        return EPOCH + self.now

    def fail(self, what: str) -> None:
        """Stores an error that cannot be raised here, for example in a callback. The next `check` raises Violation."""
        self.failure = self.failure or what

    def has_message(self, queue: str) -> bool:
        return bool(self.sqs.queues[queue].visible(self.now))

    def steps(self, preemptions: int, faults: int) -> list[Step]:
        """Returns the next steps, each with at most one fault. The first step is the usual one.

        `preemptions`, `faults`: how many of each are still allowed.
        """
        last = self.current
        order = ([last] if last is not None else []) + [one for one in self.processes if one is not last]
        calls = [step for process in order for step in self._steps_of(process)]
        returns = [
            Step(kind, one.process, one.call)
            for kind, waiting in ((Kind.WAKE, self.stalled), (Kind.ARRIVE, self.late))
            for one in waiting
            if one.since <= self.now + RESOLUTION and (calls or self._is_first(one) or self._must_return())
        ]
        may_wait = not calls and not self._must_return() and self._next_time() is not None
        found = [Step(Kind.TIME)] * may_wait + calls + returns
        goes_on = bool(calls) and calls[0].process is last
        found = [step._replace(preemptions=step.overtakes + (goes_on and _leaves(step, last))) for step in found]
        allowed = [step for step in found if step.preemptions <= preemptions]
        if faults:
            allowed += [step._replace(fault=fault) for step in allowed for fault in _faults_of(step, self.kinds)]
            if may_wait and Fault.STALLS_WAITING in self.kinds:
                waiting = [process for process in self.awake() if process.is_working()]
                allowed += [Step(Kind.TIMER, process, fault=Fault.STALLS_WAITING) for process in waiting]
        return allowed

    def take(self, step: Step) -> None:
        """Takes a step. Raises Violation."""
        if step.process is not None and step.kind is not Kind.ARRIVE:
            self.current = step.process
        match step.kind:
            case Kind.CALL:
                assert step.call is not None
                perform(self, step.call, step.fault)
            case Kind.WAKE:
                wake(self, next(one for one in self.stalled if one.process is step.process))
            case Kind.ARRIVE:
                arrive(self, next(one for one in self.late if one.call is step.call))
            case Kind.TIMER if step.fault is not None and step.process is not None:
                stall(self, step.process)
            case Kind.TIME | Kind.TIMER:
                self._pass_time()

    def check(self) -> None:
        """Raises Violation if a process has failed."""
        for process in self.processes:
            if (error := process.error()) is not None:
                raise Violation(f"{process.name} has ended with {error!r}")
        if self.failure is not None:
            raise Violation(self.failure)

    def digest(self, *more: object) -> bytes:
        """Returns a hash of `more` and everything on which the next steps depend, except for the last process."""
        returning = [
            (one.process.name, one.call and one.call.number, one.fault, one.since, one.until)
            for one in self.stalled + self.late
        ]
        state = (
            self.now,
            sorted(self.table.items.items()),
            self.site.key(),
            [(name, queue.key()) for name, queue in self.sqs.queues.items()],
            [process.key() for process in self.processes],
            returning,
            more,
        )
        return blake2b(repr(state).encode(), digest_size=12).digest()

    def end(self) -> None:
        """Ends all processes. The calls that they make while they end fail."""
        self.closed = True
        for process in self.processes:
            process.end()

    def note(self, process: Process, what: str, call: Call | None = None) -> None:
        self.trace.append(Traced(self.now, process.name, what, call))

    def awake(self) -> Iterator[Process]:
        return (process for process in self.processes if process.state is State.AWAKE)

    def _steps_of(self, process: Process) -> Iterator[Step]:
        if process.state is not State.AWAKE:
            return
        ready = [call for call in process.pending if not call.waits(self.now)]
        for number, call in enumerate(ready):
            yield Step(Kind.CALL, process, call, overtakes=number > 0)
        timer = process.loop.next_timer()
        if not ready and timer is not None and timer <= self.now + NEAR and timer == self._next_time():
            yield Step(Kind.TIMER, process)

    def _is_first(self, one: Returning) -> bool:
        """Returns whether this is the first moment at which a stalled process, or a late call, may return."""
        return self.now <= one.since + RESOLUTION

    def _must_return(self) -> bool:
        return any(one.until <= self.now + RESOLUTION for one in self.stalled + self.late)

    def _times(self) -> Iterator[float]:
        polled = set()
        for process in self.awake():
            if (timer := process.loop.next_timer()) is not None:
                yield timer
            for call in process.pending:
                if call.poll_ends is not None:
                    polled.add(call.parameters["QueueUrl"])
                    yield call.poll_ends
        for name in polled:
            yield from (message.visible_at for message in self.sqs.queues[name].messages.values())
        for one in self.stalled + self.late:
            yield one.since if one.since > self.now + RESOLUTION else one.until

    def _next_time(self) -> float | None:
        return min((time for time in self._times() if time > self.now + RESOLUTION), default=None)

    def _pass_time(self) -> None:
        time = self._next_time()
        assert time is not None
        self.now = max(self.now, round(time, 6))
        for process in self.awake():
            process.loop.settle()
            self._end_polls(process)
            for call in process.unanswered:
                if call.deadline + RESOLUTION < self.now:
                    raise Violation(f"{process.name} waits for {call.operation} beyond the deadline")

    def _end_polls(self, process: Process) -> None:
        """Answers the polls that have found no message. Only this process notices, so the order does not matter."""
        for call in list(process.pending):
            if call.poll_ends is not None and call.poll_ends <= self.now + RESOLUTION and not call.has_message():
                process.pending.remove(call)
                process.answer(call, call.outcome())


def _leaves(step: Step, last: Process | None) -> bool:
    """Returns whether the step belongs to another process than `last`, or to a process or call that returns."""
    return step.process is not last or step.kind in (Kind.WAKE, Kind.ARRIVE)


def _faults_of(step: Step, kinds: Iterable[Fault]) -> Iterator[Fault]:
    if step.kind in (Kind.CALL, Kind.TIMER):
        operation = step.call.operation if step.call else None
        yield from (fault for fault in kinds if fault.applies_to(operation))
