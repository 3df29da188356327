"""Which of the waiting messages may be worked on: on a FIFO queue one of each group, in the order they were received.

SQS gives out several messages of a group in one answer, and then none of that group until all of those are deleted or
visible again. So while one of them is in flight, the others may be made visible, and still come after it:
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-understanding-logic.html
"""

from collections import deque

from app.worker.held import Held


class Order:
    """`ready` messages may be taken; the others wait behind one of their group, which is taken or ready."""

    def __init__(self, *, fifo: bool) -> None:
        self._fifo = fifo
        self._ready: deque[Held] = deque()
        self._behind: dict[str, deque[Held]] = {}

    def __len__(self) -> int:
        """How many wait."""
        return len(self._ready) + sum(map(len, self._behind.values()))

    def add(self, held: Held) -> None:
        group = self._group(held)
        if group is not None and group in self._behind:
            self._behind[group].append(held)
            return
        if group is not None:
            self._behind[group] = deque()
        self._ready.append(held)

    def take(self) -> Held | None:
        """The next one to work on."""
        return self._ready.popleft() if self._ready else None

    def done(self, held: Held) -> None:
        """`held`, which was taken, is done: the next of its group is ready."""
        group = self._group(held)
        if group is None or group not in self._behind:
            return
        if self._behind[group]:
            self._ready.append(self._behind[group].popleft())
        else:
            del self._behind[group]

    def give_up(self, held: Held) -> list[Held]:
        """`held` is not done, whether it was taken or waits: those that must come after it, which wait no more."""
        group = self._group(held)
        if held in self._ready:
            self._ready.remove(held)
        if group is None or group not in self._behind:
            return []
        waiting = self._behind[group]
        if held not in waiting:
            return list(self._behind.pop(group))
        # One before it is worked on, and may be done.
        later: list[Held] = []
        while (last := waiting.pop()) is not held:
            later.insert(0, last)
        return later

    def clear(self) -> list[Held]:
        """All that wait, of each group in its order; they wait no more."""
        waiting = [*self._ready, *(held for group in self._behind.values() for held in group)]
        self._ready.clear()
        self._behind.clear()
        return waiting

    def _group(self, held: Held) -> str | None:
        return held.received.group if self._fifo else None
