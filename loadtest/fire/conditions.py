"""Checks whether an attack measured the service, and not the machine, the generator, the queue or the network."""

from contextlib import AbstractContextManager, ExitStack
from typing import Self

from loadtest.fire.queue_watch import QueueWatch
from loadtest.fire.vegeta import Hit
from loadtest.record.shapes import Conditions, Load
from loadtest.stage.stack import Far
from local.machine import Watch

# If 1 % of the requests are sent more than LATE_MS after the planned time, the figures also depend on the generator.
LATE_MS = 100.0


class Observer:
    """A context that observes the machine and the queue during an attack. `conditions` returns the result.

    Without a `stack`, the load test has not started the service, but the service may run on this machine. Then the CPU
    use of other processes is not reported, because one of them may be the service. The same is true if the service runs
    in a container. `service`: a context that observes a service that the load test has not started, or None.
    """

    def __init__(self, stack: Far | None = None, service: AbstractContextManager[object] | None = None) -> None:
        self._machine, self._service = Watch(), service
        self._queue = None if stack is None else QueueWatch(stack)
        self._entered = ExitStack()

    def __enter__(self) -> Self:
        self._entered.enter_context(self._machine)
        if self._queue is not None:
            self._entered.enter_context(self._queue)
        if self._service is not None:
            self._entered.enter_context(self._service)
        return self

    def __exit__(self, *error: object) -> None:
        self._entered.close()

    def conditions(self, load: Load, hits: list[Hit], *, contained: bool = False) -> Conditions:
        """Returns the conditions of an attack with `load`. Call this method after the attack.

        `contained`: whether the service runs in a container of Docker. Then it is no descendant of this process.
        """
        busy, queue = self._machine.busy, self._queue
        late = lateness_ms(load, hits)
        ours = queue is not None and not contained  # whether the service is a descendant of this process
        doubts = (busy if ours else busy._replace(foreign_cores=0)).doubts()
        if late is not None and late > LATE_MS:
            doubts.append(f"1 % of the requests left more than {late:,.0f} ms late: the generator was slow")
        return Conditions(
            foreign_cores=busy.foreign_cores if ours else None,
            stolen_cores=busy.stolen_cores,
            queue_cores=round(queue.cores, 3) if queue else None,
            late_ms=late,
            ping_ms=queue.ping_ms if queue else None,
            slowdown=busy.slowdown,
            doubts=doubts + (queue.doubts() if queue else []),
        )


def lateness_ms(load: Load, hits: list[Hit]) -> float | None:
    """Returns the 99th percentile of how late requests were sent, in ms; None for a closed loop or without requests."""
    if load.users is not None or not hits:
        return None
    left = sorted(hit.at for hit in hits)
    late = sorted(at - number / load.rate for number, at in enumerate(left))
    return max(0.0, 1000 * late[int(0.99 * (len(late) - 1))])
