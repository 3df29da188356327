"""Quantiles of what a histogram has counted between two scrapes."""

import math
from itertools import pairwise

from app.live.exposition import Buckets


def quantile(share: float, before: Buckets, after: Buckets) -> float | None:
    """Linear within its bucket, as PromQL's histogram_quantile; the highest bound where it lies above all of them.

    None where nothing was counted, or where the counts began anew.
    """
    counted = [(bound, count - before.get(bound, 0.0)) for bound, count in after.items()]
    total = counted[-1][1] if counted else 0
    if total <= 0:
        return None
    rank = share * total
    for (lower, below), (bound, count) in pairwise([(0.0, 0.0), *counted]):
        if count >= rank and count > below:
            return lower if math.isinf(bound) else lower + (bound - lower) * (rank - below) / (count - below)
    return None
