"""Decides which waiting messages may be processed: on a FIFO queue, one of each message group at a time, otherwise all.

The messages of a group are processed in the order of receipt. One receive may return several messages of a group. SQS
delivers no message of the group until all of these messages are deleted or visible again. So the worker does not change
the order if it releases the later messages while the first message is in flight: SQS delivers the later messages again
only after the first message is deleted or visible.
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-understanding-logic.html
"""

from collections import deque

from app.worker.in_flight_message import InFlightMessage


class MessageOrder:
    """The messages that wait for a task.

    A message in `_ready` may be processed. A message in `_behind` waits for an earlier message of its group.
    """

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
        """Removes and returns the next message to process. Returns None if no message is ready."""
        return self._ready.popleft() if self._ready else None

    def complete(self, message: InFlightMessage) -> None:
        """Makes the next message of the group ready, because `message` is done."""
        group = self._group(message)
        if group is None or group not in self._behind:
            return
        if self._behind[group]:
            self._ready.append(self._behind[group].popleft())
        else:
            del self._behind[group]

    def give_up(self, message: InFlightMessage) -> list[InFlightMessage]:
        """Removes `message` and the later messages of its group, and returns the later messages.

        `message` is not done: it waits, or its processing has failed or was cancelled.
        """
        group = self._group(message)
        if message in self._ready:
            self._ready.remove(message)
        if group is None or group not in self._behind:
            return []
        waiting = self._behind[group]
        if message not in waiting:
            return list(self._behind.pop(group))
        # An earlier message of the group is ready or in work, so only `message` and later ones are removed.
        later: list[InFlightMessage] = []
        while (last := waiting.pop()) is not message:
            later.insert(0, last)
        return later

    def clear(self) -> list[InFlightMessage]:
        """Removes and returns all waiting messages. The messages of a group keep their order."""
        waiting = [*self._ready, *(message for group in self._behind.values() for message in group)]
        self._ready.clear()
        self._behind.clear()
        return waiting

    def _group(self, message: InFlightMessage) -> str | None:
        return message.received.group if self._fifo else None
