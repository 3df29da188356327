"""The published ratios of the lab's studies beside the measured ones, and what became of each."""

from math import isnan
from typing import Literal, NamedTuple

from lab.measurement.case_record import CaseRepeat, Study
from lab.report.published import PUBLISHED, REASONS, PublishedComparison
from loadtest.record.price_estimate import MedianEstimate, ratio

Verdict = Literal["reproduced", "stronger", "weaker", "unclear", "different", "opposite"]
# For the verdict `reproduced`, the measured ratio differs from the published one by a factor of at most FACTOR. A
# published ratio up to SAME, or down to 1 ÷ SAME, counts as one; the measured ratio must then be between SAME_LOW and
# SAME_HIGH.
FACTOR = 1.5
SAME = 1.05
SAME_LOW, SAME_HIGH = 0.8, 1.25
# The comparison of a reference with itself.
NOISE = "noise"


class ComparisonOutcome(NamedTuple):
    """`measured` is NaN where it was not; `verdict` None also where nothing is claimed. `reason`: empty if unknown."""

    comparison: PublishedComparison
    measured: MedianEstimate
    verdict: Verdict | None
    reason: str


def outcomes(study: Study) -> list[ComparisonOutcome]:
    """Returns the outcome of every comparison of the study, in the order of published.json."""
    reasons = REASONS.get(study.name, {})
    found = [_outcome(study, comparison, reasons) for comparison in PUBLISHED[study.name].comparisons]
    noise = next((outcome.measured for outcome in found if outcome.comparison.id == NOISE), None)
    return [_against_noise(outcome, noise) for outcome in found]


def _against_noise(outcome: ComparisonOutcome, noise: MedianEstimate | None) -> ComparisonOutcome:
    """Makes the verdict of a duet `unclear` if the difference is no larger than a reference's from itself.

    The reference beside itself is a control, and gets no verdict.
    """
    if outcome.comparison.id == NOISE:
        return outcome._replace(verdict=None)
    if noise is None or outcome.verdict is None:
        return outcome
    most = max(noise.high, 1 / noise.low)
    larger = max(outcome.measured.median, 1 / outcome.measured.median) > most
    return outcome if larger else outcome._replace(verdict="unclear")


def _outcome(study: Study, comparison: PublishedComparison, reasons: dict[str, str]) -> ComparisonOutcome:
    over, under = ({row.repeat: row for row in study.of(name)} for name in (comparison.over, comparison.under))
    both = sorted(over.keys() & under.keys())
    measured = ratio(
        [value(over[repeat], comparison.metric) for repeat in both],
        [value(under[repeat], comparison.metric) or None for repeat in both],
    )
    return ComparisonOutcome(comparison, measured, judge(comparison, measured), reasons.get(comparison.id, ""))


def value(row: CaseRepeat, metric: str) -> float | None:
    """Returns the value of `metric`, or None if it was not measured."""
    measured = row.measurement
    match metric:
        case "rps":
            return measured.rps
        case "mean_ms":
            return measured.latencies.mean
        case "cpu_ms":
            return measured.used.cpu_ms_per_accepted if measured.used else None
        case _:
            return threads(row)


def threads(row: CaseRepeat) -> float | None:
    """Returns the number of Python threads, or None if it was not measured or the lab had several workers.

    If the lab did not answer, the number is an estimate: the main thread, and threads started after the lab's start.
    """
    seen = row.threads
    if seen is None or row.workers > 1:
        return None
    return seen.python if seen.python is not None else 1 + seen.os - seen.before


def judge(comparison: PublishedComparison, measured: MedianEstimate) -> Verdict | None:
    """Returns what was found, or None if nothing was measured or nothing is claimed.

    A ratio is `unclear` if its interval is not on one side of 1, and the `opposite` if it is not on the published side.
    On that side, `reproduced` means that the median is within a factor of FACTOR of the published ratio. Beyond the
    factor, the effect is `stronger` or `weaker`. A published ratio of one is `reproduced` if the interval is between
    SAME_LOW and SAME_HIGH, `unclear` if only the median is, and `different` otherwise. A claim without figures has
    only a side.
    """
    published = comparison.ratio
    if isnan(measured.median) or (published is None and comparison.claimed is None):
        return None
    if comparison.claimed == "same" or (published is not None and 1 / SAME <= published <= SAME):
        return _one(measured)
    more = comparison.claimed == "more" if published is None else published > 1
    if not _beyond(measured.low if more else measured.high, more):
        return "opposite" if _beyond(measured.high if more else measured.low, not more) else "unclear"
    if published is None or published / FACTOR <= measured.median <= published * FACTOR:
        return "reproduced"
    return "stronger" if (measured.median > published) == more else "weaker"


def _one(measured: MedianEstimate) -> Verdict:
    if measured.low >= SAME_LOW and measured.high <= SAME_HIGH:
        return "reproduced"
    return "unclear" if SAME_LOW <= measured.median <= SAME_HIGH else "different"


def _beyond(ratio: float, more: bool) -> bool:
    """Returns True if `ratio`, rounded to two decimals as in the tables, is above 1 (unless `more`: below 1)."""
    shown = round(ratio, 2)
    return shown > 1 if more else shown < 1
