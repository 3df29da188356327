"""Estimates over repeats: the median and an interval for it."""

from collections.abc import Iterable
from math import comb, isnan
from statistics import median
from typing import NamedTuple

# With five or more repeats, an interval contains the true median with at least this confidence.
CONFIDENCE = 0.93


class MedianEstimate(NamedTuple):
    """The median, and an interval for it that assumes no distribution: see `estimate`."""

    median: float
    low: float
    high: float

    def text(self, form: str = ",.1f") -> str:
        """Returns the median and the interval, such as `12.3 (11.9–12.8)`, or `–` if nothing was measured."""
        if isnan(self.median):
            return "–"
        if self.low == self.high:
            return format(self.median, form)
        return f"{self.median:{form}} ({self.low:{form}}–{self.high:{form}})"


def estimate(values: Iterable[float | None]) -> MedianEstimate:
    """Returns the median of one value per repeat, with a confidence interval.

    Repeats without a value are left out. If no repeat has a value, all numbers are NaN. The interval is from the k-th
    smallest to the k-th largest value, with the largest k that CONFIDENCE allows: k is 1 for five values, and 2 for
    nine. With fewer than five values, the interval is from the smallest to the largest value, and the confidence is
    lower: 75 % with three values. (The interval is that of order statistics: among n values, the number of values below
    the true median has a binomial distribution with p = 1/2.)
    """
    known = sorted(value for value in values if value is not None)
    if not known:
        return MedianEstimate(*[float("nan")] * 3)
    left_out = _left_out(len(known))
    return MedianEstimate(median(known), known[left_out], known[-1 - left_out])


def _left_out(repeats: int) -> int:
    """Returns how many values the interval leaves out at each end."""
    outside, left_out = 0.0, 0
    while True:
        outside += 2 * comb(repeats, left_out) / 2**repeats
        if outside > 1 - CONFIDENCE or 2 * left_out + 1 >= repeats:
            return max(0, left_out - 1)
        left_out += 1


def ratio(ours: Iterable[float | None], theirs: Iterable[float | None]) -> MedianEstimate:
    """Returns an estimate of `ours` ÷ `theirs`, from the ratios of the rounds. Each argument has one value per round.

    Rounds in which a value is None are left out.
    """
    pairs = zip(ours, theirs, strict=False)
    return estimate(mine / other for mine, other in pairs if mine is not None and other is not None)
