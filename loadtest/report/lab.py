"""The published ratios of the lab's studies beside the measured ones, and what became of each."""

import json
from math import inf, isnan
from pathlib import Path
from typing import Any, Literal, NamedTuple

from loadtest.record.estimate import Estimate, ratio
from loadtest.record.lab import Row, Study
from loadtest.record.shapes import Record

_HERE = Path(__file__).parent
# By study and comparison: why it was not reproduced, found by measuring.
REASONS: dict[str, dict[str, str]] = json.loads((_HERE / "lab_reasons.json").read_text())

Verdict = Literal["reproduced", "in part", "not"]
# Of the published ratio and the measured one, at most; and where a ratio counts as one.
FACTOR = 1.5
SAME = 1.05
SAME_LOW, SAME_HIGH = 0.8, 1.25


class Comparison(Record):
    """Two cases of a study. `published`: the figures of `over` and `under`; `claimed`: what is claimed without figures.

    `metric`: `rps` (200s a second), `mean_ms` (latency), `threads` or `cpu_ms` (a request).
    """

    id: str
    claim: str
    over: str
    under: str
    metric: Literal["rps", "mean_ms", "threads", "cpu_ms"]
    published: tuple[float, float] | None = None
    claimed: Literal["more", "less", "same"] | None = None

    @property
    def ratio(self) -> float | None:
        """As published."""
        return self.published[0] / self.published[1] if self.published else None


class Published(Record):
    """One study. `source`: who measured it; `published`: under which load; `here`: what differs here."""

    title: str
    source: str
    published: str
    here: str
    comparisons: list[Comparison]


def _load() -> dict[str, Published]:
    studies: dict[str, Any] = json.loads((_HERE / "lab_published.json").read_text())
    return {name: Published.model_validate(study) for name, study in studies.items()}


PUBLISHED = _load()


class Outcome(NamedTuple):
    """`measured` is NaN where it was not; `verdict` None also where nothing is claimed. `reason`: empty if unknown."""

    comparison: Comparison
    measured: Estimate
    verdict: Verdict | None
    reason: str


def outcomes(study: Study) -> list[Outcome]:
    """Of every comparison of the study, in the order of lab_published.json."""
    reasons = REASONS.get(study.name, {})
    return [_outcome(study, comparison, reasons) for comparison in PUBLISHED[study.name].comparisons]


def _outcome(study: Study, comparison: Comparison, reasons: dict[str, str]) -> Outcome:
    over, under = ({row.repeat: row for row in study.of(name)} for name in (comparison.over, comparison.under))
    both = sorted(over.keys() & under.keys())
    measured = ratio(
        [value(over[repeat], comparison.metric) for repeat in both],
        [value(under[repeat], comparison.metric) or None for repeat in both],
    )
    return Outcome(comparison, measured, judge(comparison, measured), reasons.get(comparison.id, ""))


def value(row: Row, metric: str) -> float | None:
    """None where it was not measured."""
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


def threads(row: Row) -> float | None:
    """Python threads; where the lab did not answer, the main one and those that came since its start."""
    seen = row.threads
    if seen is None or row.workers > 1:
        return None
    return seen.python if seen.python is not None else 1 + seen.os - seen.before


def judge(comparison: Comparison, measured: Estimate) -> Verdict | None:
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


def _one(published: float, measured: Estimate) -> Verdict:
    if measured.low >= SAME_LOW and measured.high <= SAME_HIGH:
        return "reproduced"
    near = SAME_LOW <= measured.median <= SAME_HIGH
    return "in part" if near or (published != 1 and _beyond(measured.median, published > 1)) else "not"


def _beyond(ratio: float, more: bool) -> bool:
    return ratio > 1 if more else ratio < 1


def of_study(found: list[Outcome]) -> Verdict | None:
    """From its comparisons: all reproduced, none, or some. None where none was measured."""
    verdicts = {outcome.verdict for outcome in found} - {None}
    if not verdicts:
        return None
    return verdicts.pop() if len(verdicts) == 1 else "in part"
