"""Drains the queue during the attack, so that an emulator of SQS does not need memory for all messages."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

from loadtest.fire.traffic import digest

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient
    from types_boto3_sqs.type_defs import MessageTypeDef

LONG_POLL_SECONDS = 1
QUIET_SECONDS = 3  # if no message arrives for this time, the missing messages count as lost


class Drain:
    """An `Arrivals` that drains the queue in the background. `received`: the counts by digest of the body."""

    def __init__(self, sqs: "SQSClient", queue_url: str) -> None:
        self.received: Counter[bytes] = Counter()
        self.error: Exception | None = None
        self._sqs, self._url = sqs, queue_url
        self._changed = threading.Condition()
        self._empty_since: float | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            while not self._stopping.is_set():
                self._take()
        except Exception as error:  # `wait` raises it
            self.error = error
        with self._changed:
            self._changed.notify_all()

    def _take(self) -> None:
        asked = time.monotonic()
        answer = self._sqs.receive_message(
            QueueUrl=self._url, MaxNumberOfMessages=10, WaitTimeSeconds=LONG_POLL_SECONDS
        )
        messages = answer.get("Messages", [])
        if messages:
            self._delete(messages)
        with self._changed:
            # Counted after the delete, because a message whose delete fails may be received again.
            self.received.update(digest(message["Body"].encode()) for message in messages)
            self._empty_since = None if messages else self._empty_since or asked
            self._changed.notify_all()

    def _delete(self, messages: "list[MessageTypeDef]") -> None:
        self._sqs.delete_message_batch(
            QueueUrl=self._url,
            Entries=[{"Id": str(i), "ReceiptHandle": m["ReceiptHandle"]} for i, m in enumerate(messages)],
        )

    def wait(self, complete: Callable[[Counter[bytes]], bool]) -> None:
        """Returns when `complete(received)` is true, or when the queue is empty for QUIET_SECONDS during this call.

        If the queue could not be read, raises the error of the failed call.
        """

        began = time.monotonic()  # time before this call does not count: the last message may not have arrived yet

        def settled() -> bool:
            empty = self._empty_since
            quiet = empty is not None and time.monotonic() - max(empty, began) > QUIET_SECONDS
            return self.error is not None or quiet or complete(self.received)

        with self._changed:
            self._changed.wait_for(settled)
        if self.error is not None:
            raise self.error

    def forget(self, digest: bytes) -> int:
        """Removes `digest` from `received`, and returns its count."""
        return self.received.pop(digest, 0)
