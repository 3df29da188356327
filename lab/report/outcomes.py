"""Compares the published ratios of the lab's studies with the measured ratios, and finds the verdicts."""

from math import isnan
from typing import Literal, NamedTuple

from lab.measurement.case_record import CaseRepeat, Study
from lab.report.published import PUBLISHED, REASONS, PublishedComparison
from loadtest.record.price_estimate import MedianEstimate, ratio

Verdict = Literal["reproduced", "stronger", "weaker", "unclear", "different", "opposite"]
# The verdict `reproduced` needs a measured ratio that differs from the published ratio by a factor of at most FACTOR.
# If the published ratio is from 1 ÷ SAME to SAME, it counts as 1, and the measured ratio must be between SAME_LOW and
# SAME_HIGH.
FACTOR = 1.5
SAME = 1.05
SAME_LOW, SAME_HIGH = 0.8, 1.25
# The id of the comparison between a reference and its copy.
NOISE = "noise"


class ComparisonOutcome(NamedTuple):
    """The outcome of one comparison.

    `measured`: NaN if a case was not measured. `verdict`: None if a case was not measured, or if nothing is claimed.
    `reason`: why the published ratio was not reproduced, or an empty string if reasons.json has no reason.
    """

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
    """Makes a duet's verdict `unclear` if its cases differ no more than a reference differs from its own copy.

    The duet of a reference and its copy is a control, and gets no verdict.
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

    If the lab did not answer, the number is an estimate: the main thread, and the threads that have started since the
    first request.
    """
    seen = row.threads
    if seen is None or row.workers > 1:
        return None
    return seen.python if seen.python is not None else 1 + seen.os - seen.before


def judge(comparison: PublishedComparison, measured: MedianEstimate) -> Verdict | None:
    """Returns the verdict, or None if nothing was measured or nothing is claimed.

        opposite           the interval of the measured ratio is on the side of 1 that contradicts the published ratio
        unclear            the interval is on both sides of 1
        reproduced         the interval is on the published side, and the median within FACTOR of the published ratio
        stronger, weaker   the interval is on the published side, but the median is beyond FACTOR

    If the published ratio is 1 or the claim is `same`, the verdict is `reproduced` if the interval is between SAME_LOW
    and SAME_HIGH, `unclear` if only the median is between them, and `different` otherwise. A claim `more` or `less` has
    no figures: its verdict is `reproduced` if the interval is on the claimed side of 1.
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
    """Returns True if `ratio`, rounded to two decimals as in the tables, is above 1 (or below 1 if not `more`)."""
    shown = round(ratio, 2)
    return shown > 1 if more else shown < 1
