"""Estimates how long a new webhook would wait, from the webhooks that wait and the pace of the answers so far."""

# The observation time is this share of APP_MAX_WAIT. In a shorter time, there are too few answers to compute a rate.
# After a pause of SQS, the rate stays unknown for the same share of the pause.
OBSERVED_SHARE = 0.2
# A window, in which the pace is measured, is the share _WINDOW of the observation time. After each window, the highest
# pace is multiplied by _KEPT. The highest pace shows what the service can do. A lower pace may only mean that fewer
# webhooks arrived.
_WINDOW, _KEPT = 0.1, 0.9
# SQS pauses if there is no answer for this share of the observation time. A busy service has shorter gaps between its
# answers.
_PAUSE = 0.8


class Estimate:
    """The webhooks with a complete body, oldest first, and the pace of the answers. Times are in seconds."""

    def __init__(self, max_wait: float) -> None:
        self._observation = OBSERVED_SHARE * max_wait
        # For each webhook: when its wait began, and the number of answers at that time.
        self._waiting: dict[object, tuple[float, int]] = {}
        self._answered = 0
        self._last_answer = 0.0
        self._prompt = False  # at the last answer, no webhook had waited for the observation time
        self._pace = 0.0  # the highest number of prompt answers per second
        self._window = (0.0, 0)  # the window of the pace: when it began, and the number of answers at that time
        self._resumed = (0.0, 0)  # the end of the last pause, and the number of answers at that time
        self._unclear_until = 0.0  # until this time, the rate after a pause is unknown

    def begin(self, webhook: object, now: float) -> None:
        """Begins the wait of `webhook`, because its body is complete."""
        if not self._waiting:
            began, before = self._window
            self._window = (began + now - self._last_answer, before)  # an idle service has no pace
        self._waiting[webhook] = (now, self._answered)

    def end(self, webhook: object, now: float) -> None:
        """Ends the wait of `webhook`: it has been answered, or its client has disconnected."""
        if (waiting := self._waiting.pop(webhook, None)) is None:
            return
        self._note_pause(min(waiting, next(iter(self._waiting.values()), waiting))[0], now)
        self._last_answer = now
        self._answered += 1
        began, before = self._window
        if self._prompt and now - began >= _WINDOW * self._observation:
            self._pace = max((self._answered - before) / (now - began), _KEPT * self._pace)
            self._window = (now, self._answered)

    def seconds(self, now: float) -> float:
        """Returns the expected wait: the number of waiting webhooks, divided by the rate of answers.

        The rate is measured since the oldest waiting webhook arrived. The wait of the oldest webhook alone would be a
        late signal: if webhooks arrive at twice the capacity, a new webhook will wait twice as long. Within the
        observation time, the result is 0, because the first milliseconds of a burst have no answers to measure.
        While SQS pauses, and just after a pause, the rate is unknown. Then the pace before the pause is used.
        """
        oldest = next(iter(self._waiting.values()), None)
        if oldest is None or now - oldest[0] < self._observation:
            return 0
        backlog, waited = len(self._waiting), now - oldest[0]
        since, before = max(oldest, self._resumed)
        answered = self._answered - before
        wait = backlog * (now - since) / answered if answered else waited
        paused = self._prompt and now - self._last_answer >= _PAUSE * self._observation
        if paused or now < self._unclear_until:
            return min(wait, max(waited, backlog / self._pace if self._pace else 0))
        return wait

    def _note_pause(self, oldest: float, now: float) -> None:
        """Restarts the measurement of the rate if this answer ends a pause: the observation time without an answer.

        The estimate assumes that the answers after a pause are as quick as the answers before it. It does so only if
        the answers before the pause were prompt, so at most once for each backlog. Otherwise, a slow queue would seem
        to pause before each of its answers.
        """
        gap = now - max(oldest, self._last_answer)
        if self._prompt and gap >= self._observation:
            self._resumed = (now, self._answered)
            self._unclear_until = now + OBSERVED_SHARE * gap
        self._prompt = now - oldest < self._observation
