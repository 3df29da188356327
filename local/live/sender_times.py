"""Measures how long the live page waits for a service's answers to the webhooks that the page's buttons send."""

import math
from bisect import bisect_left
from collections import deque
from itertools import accumulate

from local.live.exposition import Buckets
from local.live.quantiles import quantile

# Upper bounds in seconds, from 1 ms to 60 s, in steps of 12 %.
_BOUNDS = [*(10 ** (step / 20) for step in range(-60, 36)), 60.0, math.inf]
Milliseconds = dict[str, float]


class SenderTimes:
    """A histogram of the times from sending a webhook to receiving the service's answer."""

    def __init__(self) -> None:
        self._counts = [0] * len(_BOUNDS)
        # The histogram at the last two calls of `recent`, which the page calls twice a second.
        self._earlier: deque[Buckets] = deque([{}, {}], maxlen=2)

    def observe(self, seconds: float) -> None:
        self._counts[bisect_left(_BOUNDS, seconds)] += 1

    def recent(self) -> Milliseconds:
        """Returns the median and the 99th percentile of the times observed since the second-last call of this method.

        Returns an empty dict if there was no answer in this period. The page calls this method every half second, so
        the numbers cover the last second.
        """
        now = self._buckets()
        found = _times("sender_", self._earlier[0], now)
        self._earlier.append(now)
        return found

    def overall(self) -> Milliseconds:
        """Returns the median and the 99th percentile of all times, or an empty dict if there was no answer."""
        return _times("", {}, self._buckets())

    def _buckets(self) -> Buckets:
        return dict(zip(_BOUNDS, accumulate(self._counts), strict=True))


def _times(prefix: str, before: Buckets, after: Buckets) -> Milliseconds:
    shares = {f"{prefix}p50": 0.5, f"{prefix}p99": 0.99}
    found = {name: quantile(share, before, after) for name, share in shares.items()}
    return {name: round(seconds * 1000, 2) for name, seconds in found.items() if seconds is not None}
