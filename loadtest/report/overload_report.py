"""The table of `python -m loadtest overload`: statuses and latencies."""

from http import HTTPStatus

from loadtest.fire.vegeta import Hit
from loadtest.record.shapes import Measurement, ProbeLatencies
from loadtest.report.cells import markdown, milliseconds

HEAD = ["attack", "200s", "answers", "p99 of 200s", "slowest", "first wave p90", "later p90", "/healthz p99", "memory"]


def table(rows: list[list[str]]) -> str:
    """Returns the rows as a table in Markdown."""
    return markdown(HEAD, rows)


def per_second(measured: Measurement) -> float:
    """Returns the number of 200s ÷ the seconds of sending. (vegeta divides by the seconds until the last response.)"""
    return measured.accepted / measured.load.duration_s


def row(name: str, measured: Measurement, hits: list[Hit]) -> list[str]:
    """Returns a row of the table. `hits`: the requests in the order of sending.

    The first wave is the first request of each user. An open loop has no first wave.
    """
    wave = measured.load.users or 0
    return [
        name,
        f"{per_second(measured):.0f}/s",
        ", ".join(f"{code}: {number:,}" for code, number in sorted(measured.statuses.items())),
        _percentile([hit for hit in hits if hit.code == HTTPStatus.OK], 0.99),
        _percentile(hits, 1),
        _percentile(hits[:wave], 0.9),
        _percentile(hits[wave:], 0.9),
        _probes(measured.probes),
        f"{measured.used.peak_mib:.0f} MiB" if measured.used and measured.used.peak_mib else "–",
    ]


def _probes(probes: ProbeLatencies | None) -> str:
    if probes is None:
        return "–"
    p99 = "no answer" if probes.p99 is None else milliseconds(probes.p99)
    return f"{p99} ({probes.failed} of {probes.number} failed)"


def _percentile(hits: list[Hit], share: float) -> str:
    ordered = sorted(hit.latency for hit in hits)
    return milliseconds(1000 * ordered[min(int(share * len(ordered)), len(ordered) - 1)]) if ordered else "–"
