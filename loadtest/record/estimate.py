"""What repeats say together: the median, and between what bounds it was seen."""

from collections.abc import Iterable
from math import comb, isnan
from statistics import median
from typing import NamedTuple

# An interval holds the true median with this confidence or more, where there are repeats enough for it: five.
CONFIDENCE = 0.93


class Estimate(NamedTuple):
    """The median, and an interval for it that takes no distribution for granted: see `estimate`."""

    median: float
    low: float
    high: float

    def overlaps(self, other: "Estimate") -> bool:
        return self.low <= other.high and other.low <= self.high

    def text(self, form: str = ",.1f") -> str:
        """`12.3 (11.9–12.8)`; `–` for nothing measured."""
        if isnan(self.median):
            return "–"
        if self.low == self.high:
            return format(self.median, form)
        return f"{self.median:{form}} ({self.low:{form}}–{self.high:{form}})"


def estimate(values: Iterable[float | None]) -> Estimate:
    """Of one value for each repeat; NaN where a repeat has none.

    The interval goes from the k-th smallest value to the k-th largest, for the largest k that CONFIDENCE allows: all of
    five values, the 2nd to the 8th of nine. Below five it goes from the smallest to the largest, with 75 % for three.
    (The order statistics' interval: how often the median of n draws lies outside is a matter of n fair coins.)
    """
    known = sorted(value for value in values if value is not None)
    if not known:
        return Estimate(*[float("nan")] * 3)
    left_out = _left_out(len(known))
    return Estimate(median(known), known[left_out], known[-1 - left_out])


def _left_out(repeats: int) -> int:
    """How many values the interval may leave out on each side."""
    outside, left_out = 0.0, 0
    while True:
        outside += 2 * comb(repeats, left_out) / 2**repeats
        if outside > 1 - CONFIDENCE or 2 * left_out + 1 >= repeats:
            return max(0, left_out - 1)
        left_out += 1


def ratio(ours: Iterable[float | None], theirs: Iterable[float | None]) -> Estimate:
    """Of repeats that were made side by side: each of ours to the one of theirs from the same round."""
    pairs = zip(ours, theirs, strict=True)
    return estimate(mine / other for mine, other in pairs if mine is not None and other is not None)
