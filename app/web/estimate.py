"""Estimates how long a new webhook would wait for its answer."""

# The observation time is this share of `max_wait`. `seconds` returns 0 until a webhook has waited for the observation
# time, because a shorter time would contain too few answers. After SQS has paused, the rate of answers counts as
# unknown for the same share of the pause's duration.
OBSERVED_SHARE = 0.2
# The estimate measures the rate of answers in successive windows of time. The capacity is the highest of these rates,
# because a lower rate may only mean that fewer webhooks arrived. _WINDOW: the length of a window, as a share of the
# observation time. _KEPT: the factor that lowers the capacity after each window with a lower rate, so that the estimate
# follows a service that becomes slower.
_WINDOW, _KEPT = 0.1, 0.9
# If no answer has come for this share of the observation time, the estimate assumes that SQS is pausing,
# because the gaps between the answers of a busy service are shorter.
_PAUSE = 0.8
# If an answer follows the previous answer within this share of the observation time, the estimate counts the answer,
# but does not compute a rate: group commit answers up to ten webhooks at once, and the rate cannot change so fast.
_STEP = 0.001


class Estimate:
    """Measures how long webhooks with a complete body wait, and how many are answered per second.

    All times are in seconds.
    """

    def __init__(self, max_wait: float) -> None:
        self._observation = OBSERVED_SHARE * max_wait
        # For each waiting webhook, oldest first: when its wait began, and the number of answers at that time.
        self._waiting: dict[object, tuple[float, int]] = {}
        self._answered = 0
        self._last_answer = 0.0
        self._prompt = False  # True if no webhook had waited as long as the observation time when the last answer came
        self._capacity = 0.0  # the highest rate in answers per second, or 0 if unknown
        self._window = (0.0, 0)  # when the current window began, and the number of answers at that time
        self._resumed = (0.0, 0)  # the end of the last pause, and the number of answers at that time
        self._unclear_until = 0.0  # until this time, the rate after a pause is unknown

    def begin(self, webhook: object, now: float) -> None:
        """Starts the wait of `webhook`, whose body is complete at `now`."""
        if not self._waiting:
            began, before = self._window
            self._window = (began + now - self._last_answer, before)  # the window excludes times without webhooks
        self._waiting[webhook] = (now, self._answered)

    def end(self, webhook: object, now: float) -> None:
        """Ends the wait of `webhook`, which has been answered or whose client has disconnected."""
        if (waiting := self._waiting.pop(webhook, None)) is None:
            return
        if now - self._last_answer < _STEP * self._observation:
            self._answered += 1
            return
        self._note_pause(min(waiting, next(iter(self._waiting.values()), waiting))[0], now)
        self._last_answer = now
        self._answered += 1
        began, before = self._window
        if self._prompt and now - began >= _WINDOW * self._observation:
            self._capacity = max((self._answered - before) / (now - began), _KEPT * self._capacity)
            self._window = (now, self._answered)

    def seconds(self, now: float) -> float:
        """Returns the expected wait: the number of waiting webhooks, divided by the rate of answers.

        The rate is measured since the oldest waiting webhook arrived, or since the last pause ended if that was later.
        If no webhook was answered since then, the result is the time for which the oldest webhook has waited. This time
        is only a fallback, because it may be too low: if webhooks arrive twice as fast as the service answers them, a
        new webhook will wait twice as long as the oldest one. The result is 0 until the oldest webhook has waited for
        the observation time, because a burst begins without answers to measure.

        While SQS pauses, and shortly after, the rate is unknown. The estimate then uses the capacity before the pause.
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
            return min(wait, max(waited, backlog / self._capacity if self._capacity else 0))
        return wait

    def _note_pause(self, oldest: float, now: float) -> None:
        """Restarts the measurement of the rate if an answer at `now` ends a pause. `oldest`: start of the longest wait.

        A pause is a gap of at least the observation time between two answers. After a pause, the estimate assumes that
        SQS is as fast as before the pause. A gap counts as a pause only if every webhook had waited less than the
        observation time when the gap began. Without this rule, each gap of a slow queue would be a pause.
        """
        gap = now - max(oldest, self._last_answer)
        if self._prompt and gap >= self._observation:
            self._resumed = (now, self._answered)
            self._unclear_until = now + OBSERVED_SHARE * gap
        self._prompt = now - oldest < self._observation
