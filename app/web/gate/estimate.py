"""How long a webhook that comes now would wait for its answer, by the webhooks that wait and the answers so far."""

# The share of APP_MAX_WAIT (the telling time) that the oldest webhook must have waited before answers are a rate.
TELLING_SHARE = 0.2


class Estimate:
    """Webhooks with a complete body, oldest first, and the answers so far. Times are in seconds, on one clock."""

    def __init__(self, max_wait: float) -> None:
        self._telling = TELLING_SHARE * max_wait
        # Since when each waits, and how many had been answered by then.
        self._waiting: dict[object, tuple[float, int]] = {}
        self._answered = 0

    def begin(self, webhook: object, now: float) -> None:
        """The body of `webhook` is complete: from now on, its client waits for the service."""
        self._waiting[webhook] = (now, self._answered)

    def end(self, webhook: object, now: float) -> None:
        """The webhook has been handled, or its client has disconnected."""
        self._answered += self._waiting.pop(webhook, None) is not None

    def seconds(self, now: float) -> float:
        """The webhooks that wait ÷ the rate of answers since the oldest came.

        The wait of the oldest alone is too late a signal: at twice the capacity, as many again are queued behind it by
        then. And over a short time the rate is meaningless: in the first milliseconds of a burst nothing is answered.
        After a pause of SQS of more than that share, the rate is too low until some have been answered.
        """
        oldest = next(iter(self._waiting.values()), None)
        if oldest is None or now - oldest[0] < self._telling:
            return 0
        since, before = oldest
        answered = self._answered - before
        return len(self._waiting) * (now - since) / answered if answered else now - since
