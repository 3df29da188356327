"""The limits of the clients that send webhooks to SQS."""

from typing import NamedTuple


class SendLimits(NamedTuple):
    """Limits on sending to one queue.

    `deadline`: seconds from the complete body to SQS's acknowledgement, including waiting and retries.
    `connections`: the size of the connection pool, or None for the client's default.
    `calls`: the maximum number of SendMessageBatch calls in flight. `call_bytes`: the maximum bytes of one such call.
    """

    deadline: float = 10.0
    connections: int | None = None
    calls: int = 4
    call_bytes: int = 256 * 1024
