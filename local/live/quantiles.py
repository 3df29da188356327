"""Computes quantiles of the values that a histogram has counted between two scrapes."""

import math
from itertools import pairwise

from local.live.exposition import Buckets


def quantile(share: float, before: Buckets, after: Buckets) -> float | None:
    """Returns the middle of the bucket that contains the quantile `share` (0 to 1), or None.

    `before` and `after` are the histogram's buckets at two scrapes. Returns None if the histogram counted no values
    between the scrapes, or if the counts were reset. If the quantile is above all bounds, returns the highest bound.
    PromQL would interpolate inside the bucket. Even if all values were equal, it would return a 99th percentile near
    the bucket's upper bound, and a median in the bucket's middle.
    """
    counted = [(bound, count - before.get(bound, 0.0)) for bound, count in after.items()]
    total = counted[-1][1] if counted else 0
    if total <= 0:
        return None
    for (lower, below), (bound, count) in pairwise([(0.0, 0.0), *counted]):
        if count >= share * total and count > below:
            return lower if math.isinf(bound) else (lower + bound) / 2
    return None
