"""How long a webhook that comes now would wait for its answer, by the webhooks that wait and the answers so far."""

# The share of APP_MAX_WAIT (the telling time) that the oldest webhook must have waited before answers are a rate; and
# the share of a pause, after its end.
TELLING_SHARE = 0.2
# The share of the telling time in which the pace is measured, and what is kept of the highest pace each time: that is
# what the service can do, and a lower one may be all that was asked of it.
_WINDOW, _KEPT = 0.1, 0.9
# The share of the telling time without an answer that is a pause; a busy service has shorter ones between its answers.
_SILENT = 0.8


class Estimate:
    """Webhooks with a complete body, oldest first, and the pace of the answers. Times are in seconds, on one clock."""

    def __init__(self, max_wait: float) -> None:
        self._telling = TELLING_SHARE * max_wait
        # Since when each waits, and how many had been answered by then.
        self._waiting: dict[object, tuple[float, int]] = {}
        self._answered = 0
        self._last_answer = 0.0
        self._prompt = False  # at the last answer, no webhook had waited for the telling time
        self._pace = 0.0  # answers per second while they were prompt, at most
        self._window = (0.0, 0)  # in which the pace is measured: its begin, and how many had been answered by then
        self._resumed = (0.0, 0)  # the end of the last pause, and how many had been answered by then
        self._unclear_until = 0.0  # too early after a pause for a rate

    def begin(self, webhook: object, now: float) -> None:
        """The body of `webhook` is complete: from now on, its client waits for the service."""
        if not self._waiting:
            began, before = self._window
            self._window = (began + now - self._last_answer, before)  # an idle service has no pace
        self._waiting[webhook] = (now, self._answered)

    def end(self, webhook: object, now: float) -> None:
        """The webhook has been handled, or its client has disconnected."""
        if (waiting := self._waiting.pop(webhook, None)) is None:
            return
        self._note_silence(min(waiting, next(iter(self._waiting.values()), waiting))[0], now)
        self._last_answer = now
        self._answered += 1
        began, before = self._window
        if self._prompt and now - began >= _WINDOW * self._telling:
            self._pace = max((self._answered - before) / (now - began), _KEPT * self._pace)
            self._window = (now, self._answered)

    def seconds(self, now: float) -> float:
        """The webhooks that wait ÷ the rate of answers since the oldest came.

        The wait of the oldest alone is too late a signal: at twice the capacity, as many again are queued behind it by
        then. And over a short time the rate is meaningless: in the first milliseconds of a burst nothing is answered.
        In a pause of SQS, and just after it, the rate is unknown. Until it is, the pace before the pause counts.
        """
        oldest = next(iter(self._waiting.values()), None)
        if oldest is None or now - oldest[0] < self._telling:
            return 0
        line, waited = len(self._waiting), now - oldest[0]
        since, before = max(oldest, self._resumed)
        answered = self._answered - before
        wait = line * (now - since) / answered if answered else waited
        paused = self._prompt and now - self._last_answer >= _SILENT * self._telling
        if paused or now < self._unclear_until:
            return min(wait, max(waited, line / self._pace if self._pace else 0))
        return wait

    def _note_silence(self, oldest: float, now: float) -> None:
        """An answer ends a pause if none came for the telling time: the rate is counted anew from there.

        The calls in flight, and what waits behind them, are then answered as quickly as before. That is assumed only
        if the answers before were prompt, so once while a line lasts: a slow queue is silent before each of its
        answers, and would seem to pause each time.
        """
        silence = now - max(oldest, self._last_answer)
        if self._prompt and silence >= self._telling:
            self._resumed = (now, self._answered)
            self._unclear_until = now + TELLING_SHARE * silence
        self._prompt = now - oldest < self._telling
