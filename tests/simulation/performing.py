"""Performs calls, and makes the faults of a call happen."""

from typing import TYPE_CHECKING

from tests.simulation.calls import Call, Fault
from tests.simulation.processes import Process, State
from tests.simulation.steps import Returning

if TYPE_CHECKING:
    from tests.simulation.world import World

# Maximum seconds from the first moment at which a stalled process may wake until it wakes. LATEST_CALL is the same for
# the arrival of a late call.
LATEST = 75.0
LATEST_CALL = 20.0
NOT_PERFORMED = frozenset({Fault.DIES_BEFORE, Fault.STALLS_BEFORE, Fault.LATE, Fault.LOCKED})


def perform(world: "World", call: Call, fault: Fault | None) -> None:
    """Performs a call, and delivers the answer unless a fault prevents that."""
    process = call.process
    world.note(process, fault or "calls", call)
    outcome = None if fault in NOT_PERFORMED else call.outcome()
    if fault is Fault.REPEATED:
        outcome = call.outcome()
    if fault not in (Fault.DIES_BEFORE, Fault.STALLS_BEFORE):
        process.pending.remove(call)
    if fault in (None, Fault.REPEATED):
        process.answer(call, outcome)
    else:
        _strike(world, call, fault, outcome)


def _strike(world: "World", call: Call, fault: Fault, outcome: object) -> None:
    """Applies a fault that delays the answer, or withholds the answer from the process."""
    process = call.process
    match fault:
        case Fault.DIES_BEFORE | Fault.DIES_AFTER:
            process.state = State.DEAD
        case Fault.STALLS_BEFORE | Fault.STALLS_AFTER:
            process.state = State.STALLED
            since = world.now + world.stall
            world.stalled.append(Returning(process, call, fault, outcome, since, since + LATEST))
        case Fault.LATE | Fault.LOCKED:
            process.unanswered.append(call)
            world.late.append(Returning(process, call, fault, None, call.deadline, call.deadline + LATEST_CALL))
            if fault is Fault.LOCKED:
                request = call.parameters["request"]
                world.site.locked[request.invoice_id] = request.key
        case _:
            process.unanswered.append(call)


def stall(world: "World", process: Process) -> None:
    """Stalls a process that waits for time to pass."""
    world.note(process, Fault.STALLS_WAITING)
    process.state = State.STALLED
    since = world.now + world.stall
    world.stalled.append(Returning(process, None, Fault.STALLS_WAITING, None, since, since + LATEST))


def wake(world: "World", stalled: Returning) -> None:
    """Wakes a process.

    First, the process makes the call before which it has stalled, if any. Then its time-outs fire, and then the answer
    arrives.
    """
    process, outcome = stalled.process, stalled.outcome
    world.note(process, "wakes up")
    world.stalled.remove(stalled)
    process.state = State.AWAKE
    if stalled.call is not None and stalled.fault is Fault.STALLS_BEFORE:
        process.pending.remove(stalled.call)
        outcome = stalled.call.outcome()
    process.note(0, "woken")
    process.loop.settle()
    if stalled.call is not None:
        process.answer(stalled.call, outcome)


def arrive(world: "World", late: Returning) -> None:
    """Performs a late call, whose process no longer waits for the answer."""
    assert late.call is not None
    world.late.remove(late)
    if late.fault is Fault.LOCKED:
        world.site.locked.pop(late.call.parameters["request"].invoice_id, None)
    world.note(late.process, "reaches the server late with", late.call)
    late.call.outcome()
