"""Computes quantiles of the values that a histogram has counted between two scrapes."""

import math
from collections.abc import Sequence
from itertools import pairwise

from local.live.exposition import Buckets


def quantile(share: float, before: Buckets, after: Buckets, total: float | None = None) -> float | None:
    """Returns an estimate of the quantile `share` (0 to 1), or None if there is no estimate.

    `before` and `after` are the histogram's buckets at two scrapes. `total` is the sum of the values that were counted
    between the scrapes. Returns None if the histogram counted no values between the scrapes, or if the counts were
    reset. The estimate is always in the same bucket as the true quantile. If the true quantile is above all finite
    bounds, returns the highest finite bound.

    The estimate assumes that all values have the same relative position in their buckets. Without `total`, this is the
    middle. With `total`, this is the position at which the sum of the values is `total`, and the estimate is exact if
    all values are equal. PromQL would interpolate inside the bucket: even if all values were equal, PromQL's 99th
    percentile would be near the bucket's upper bound.
    """
    counted = [(bound, count - before.get(bound, 0.0)) for bound, count in after.items()]
    number = counted[-1][1] if counted else 0
    if number <= 0:
        return None
    position = 0.5 if total is None else _position(counted, total)
    for (lower, below), (bound, count) in pairwise([(0.0, 0.0), *counted]):
        if count >= share * number and count > below:
            return lower if math.isinf(bound) else lower + position * (bound - lower)
    return None


def _position(counted: Sequence[tuple[float, float]], total: float) -> float:
    """Returns how far each value is into its bucket, from 0 (lower bound) to 1, if the sum of all values is `total`."""
    lowest = room = 0.0
    for (lower, below), (bound, count) in pairwise([(0.0, 0.0), *counted]):
        lowest += (count - below) * lower
        room += 0.0 if math.isinf(bound) else (count - below) * (bound - lower)
    return min(1.0, max(0.0, (total - lowest) / room)) if room else 0.0
