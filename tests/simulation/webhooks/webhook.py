"""One webhook as its sender knows it."""

HEAD = (
    b"POST /webhooks/chargebee HTTP/1.1\r\nhost: h\r\nauthorization: Basic dXNlcjpwYXNzd29yZA==\r\n"
    b"content-length: %d\r\n\r\n"
)


class Webhook:
    """A request of a connection, and what its sender knows about it.

    `next_at`: when all earlier webhooks of the connection had their answers, so that this webhook is the next.
    `complete_at`: when the last byte of the webhook arrived. `has_left`: the sender waits for no answer, because it has
    disconnected, has stopped sending within the body, or has read `Connection: close` in the previous answer.
    """

    def __init__(self, body: bytes, next_at: float | None) -> None:
        self.body, self.next_at = body, next_at
        self.event_id = body.partition(b'"id"')[2].split(b'"', 2)[1]
        self.complete_at: float | None = None
        self.answered = self.has_left = False

    def complete(self, now: float) -> None:
        if self.complete_at is None:
            self.complete_at = now

    @property
    def waits(self) -> bool:
        return not (self.answered or self.has_left)

    def parts(self, missing: int) -> list[bytes]:
        """Returns the request in one part, or in three if the last `missing` bytes of the body come later."""
        data = HEAD % len(self.body) + self.body
        there, half = len(data) - missing, len(data) - missing + missing // 2
        return [part for part in (data[:there], data[there:half], data[half:]) if part]
