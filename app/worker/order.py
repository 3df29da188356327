"""Decides which waiting message may be processed. On a FIFO queue, that is one of each group, in order of receipt.

One answer of SQS may hold several messages of a group; SQS then delivers none of that group until all of them are
deleted or visible again. So while one of them is in flight, the others may be released and still come after it:
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-understanding-logic.html
"""

from collections import deque

from app.worker.in_flight import InFlightMessage


class MessageOrder:
    """The waiting messages. Those in `_ready` may be taken; those in `_behind` wait for one of their group."""

    def __init__(self, *, fifo: bool) -> None:
        self._fifo = fifo
        self._ready: deque[InFlightMessage] = deque()
        self._behind: dict[str, deque[InFlightMessage]] = {}

    def __len__(self) -> int:
        """Returns the number of waiting messages."""
        return len(self._ready) + sum(map(len, self._behind.values()))

    def add(self, message: InFlightMessage) -> None:
        group = self._group(message)
        if group is not None and group in self._behind:
            self._behind[group].append(message)
            return
        if group is not None:
            self._behind[group] = deque()
        self._ready.append(message)

    def take(self) -> InFlightMessage | None:
        """Returns the next message to process."""
        return self._ready.popleft() if self._ready else None

    def complete(self, message: InFlightMessage) -> None:
        """Makes the next message of the group ready, because `message`, which was taken, is done."""
        group = self._group(message)
        if group is None or group not in self._behind:
            return
        if self._behind[group]:
            self._ready.append(self._behind[group].popleft())
        else:
            del self._behind[group]

    def give_up(self, message: InFlightMessage) -> list[InFlightMessage]:
        """Removes `message`, which was taken or waits and is not done, and the messages that must come after it.

        Returns the latter.
        """
        group = self._group(message)
        if message in self._ready:
            self._ready.remove(message)
        if group is None or group not in self._behind:
            return []
        waiting = self._behind[group]
        if message not in waiting:
            return list(self._behind.pop(group))
        # An earlier message of the group is in work, and may succeed.
        later: list[InFlightMessage] = []
        while (last := waiting.pop()) is not message:
            later.insert(0, last)
        return later

    def clear(self) -> list[InFlightMessage]:
        """Removes and returns all waiting messages, those of each group in their order."""
        waiting = [*self._ready, *(message for group in self._behind.values() for message in group)]
        self._ready.clear()
        self._behind.clear()
        return waiting

    def _group(self, message: InFlightMessage) -> str | None:
        return message.received.group if self._fifo else None
