"""The published ratios of the lab's studies beside the measured ones, and what became of each."""

from math import inf, isnan
from typing import Literal, NamedTuple

from lab.measurement.record import CaseRepeat, Study
from lab.report.published import PUBLISHED, REASONS, PublishedComparison
from loadtest.record.estimate import MedianEstimate, ratio

Verdict = Literal["reproduced", "in part", "not"]
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
    """Limits the verdict of a duet to `in part` if the difference is no larger than a reference's from itself."""
    if noise is None or outcome.verdict != "reproduced" or outcome.comparison.id == NOISE:
        return outcome
    most = max(noise.high, 1 / noise.low)
    larger = max(outcome.measured.median, 1 / outcome.measured.median) > most
    return outcome if larger else outcome._replace(verdict="in part")


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
    """`reproduced`: the interval is on the published side of 1, and the median within a factor of FACTOR of the
    published ratio; for a ratio of one, the interval is between SAME_LOW and SAME_HIGH. `in part`: the median is on
    that side, or near one. A claim without figures has only a side.
    """
    published = comparison.ratio
    if isnan(measured.median) or (published is None and comparison.claimed is None):
        return None
    if comparison.claimed == "same" or (published is not None and 1 / SAME <= published <= SAME):
        return _one(published or 1, measured)
    more = comparison.claimed == "more" if published is None else published > 1
    apart = 1 if published is None else max(measured.median / published, published / (measured.median or inf))
    if not _beyond(measured.median, more):
        return "not"
    clearly = _beyond(measured.low if more else measured.high, more)
    return "reproduced" if clearly and apart <= FACTOR else "in part"


def _one(published: float, measured: MedianEstimate) -> Verdict:
    if measured.low >= SAME_LOW and measured.high <= SAME_HIGH:
        return "reproduced"
    near = SAME_LOW <= measured.median <= SAME_HIGH
    return "in part" if near or (published != 1 and _beyond(measured.median, published > 1)) else "not"


def _beyond(ratio: float, more: bool) -> bool:
    """Returns True if `ratio`, rounded to two decimals as in the tables, is above 1 (unless `more`: below 1)."""
    shown = round(ratio, 2)
    return shown > 1 if more else shown < 1


def of_study(found: list[ComparisonOutcome]) -> Verdict | None:
    """Returns the verdict that all comparisons with a verdict share, otherwise `in part`; None if none has one."""
    verdicts = {outcome.verdict for outcome in found} - {None}
    if not verdicts:
        return None
    return verdicts.pop() if len(verdicts) == 1 else "in part"
