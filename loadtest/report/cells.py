"""Formats a Markdown table and its cells, for all reports."""

from math import isnan

from loadtest.record.price_estimate import MedianEstimate, estimate
from loadtest.record.shapes import Measurement
from loadtest.report.figures import value_of

THOUSAND = 1000


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """Returns a Markdown table. The first column is text, and the other columns are numbers."""
    aligned = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, aligned, *rows))


def of(measured: list[Measurement], value: str) -> MedianEstimate:
    """Returns the median and interval of a field over all measurements. `value`: the path, as in `figures.value_of`."""
    return estimate(value_of(measurement, value) for measurement in measured)


def label(name: str, measured: list[Measurement]) -> str:
    """Returns the name and, in brackets, how many repeats are doubtful and how many failed the audit, if any.

    A repeat is doubtful if its `Conditions` have doubts: it may have measured something besides the service.
    """
    doubtful = sum(bool(run.conditions and run.conditions.doubts) for run in measured)
    failed = sum(run.audit is not None and not run.audit.holds for run in measured)
    found = {"DOUBTFUL": doubtful, "AUDIT FAILED": failed}
    marks = [f"{what}: {number} of {len(measured)}" for what, number in found.items() if number]
    return f"{name} ({'; '.join(marks)})" if marks else name


def known(value: float, form: str, unit: str) -> str:
    """Returns the value with its unit, or `–` for NaN, which means that no repeat has measured it."""
    return "–" if isnan(value) else f"{value:{form}} {unit}"


def milliseconds(value: float) -> str:
    return f"{value:,.0f} ms" if value < THOUSAND else f"{value / THOUSAND:,.1f} s"


def latency(between: MedianEstimate) -> str:
    """Returns a latency as text: the median over the repeats, and the interval unless its rounded ends are equal."""
    median, low, high = (milliseconds(value) for value in between)
    return median if low == high else f"{median} ({low} to {high})"


def short(
    success: float, rps: float | None = None, p50_ms: float | None = None, p99_ms: float | None = None, **_: float
) -> str:
    """Returns one cell: success in per cent, then the throughput, the median latency and the p99, as far as given."""
    rate = [] if rps is None else [f"{rps:.4g}/s"]
    times = [milliseconds(time) for time in (p50_ms, p99_ms) if time is not None]
    return ", ".join([f"{success:.4g} %", *rate, *times])
