"""Defines the limits that SQS clients and group commit keep."""

from typing import NamedTuple


class SendLimits(NamedTuple):
    """Limits on sending messages to one queue.

    `deadline`: maximum seconds from a call of `send` until SQS acknowledges the message, including waiting and retries
    (with boto3 only approximately).
    `connections`: the size of the connection pool of the AWS SDK's clients.
    `calls`: the maximum number of SendMessageBatch calls in flight; on a FIFO queue, it is always 1.
    `call_bytes`: the maximum bytes of one such call. A longer message is sent alone.
    """

    deadline: float = 10.0
    connections: int = 10
    calls: int = 4
    call_bytes: int = 256 * 1024
