"""Tables of RESULTS.md about overload and faults."""

from collections.abc import Mapping

from loadtest.record.comparison import Comparison
from loadtest.record.outage_record import Outage
from loadtest.record.soak_record import Soak
from loadtest.report.captions import measured_by
from loadtest.report.cells import label, markdown, milliseconds
from loadtest.report.documents import newest, result
from loadtest.report.overload_report import per_second


def answers(statuses: Mapping[str, int]) -> str:
    """Returns a text with the number of responses of each status. Status 0 means that a request got no response."""
    return "; ".join(f"{'none' if code == '0' else code}: {number:,}" for code, number in sorted(statuses.items()))


def outage() -> str:
    """Returns the table of `python -m loadtest outage` with a caption. Raises NotMeasured if there is no result."""
    last = result("outage", Outage)
    rows = [
        [part.name, f"{part.webhooks:,}", answers(part.statuses), milliseconds(part.slowest_ms)] for part in last.parts
    ]
    table = markdown(["", "sent", "answers", "slowest"], rows)
    return f"{table}\n\n{measured_by(last.command, last.environment)}: {last.rate:,} webhooks a second, over TLS, once."


def overload() -> str:
    """Returns the table of the attacks of `python -m loadtest overload` at the service's capacity and above it.

    Raises NotMeasured if there is no result of `overload`.
    """
    last, _ = newest("overload")
    shown = [run.measurement for run in last.runs if "capacity" in run.kind]
    kinds = [run.kind for run in last.runs if "capacity" in run.kind]
    rows = []
    for kind, one in zip(kinds, shown, strict=True):
        share = per_second(one) / per_second(shown[0])
        rows.append(
            [
                label(kind, [one]),
                f"{per_second(one):,.0f}/s, {share:.0%}",
                answers(one.statuses),
                milliseconds(one.latencies.slowest),
                milliseconds(one.probes.p99) if one.probes and one.probes.p99 is not None else "–",
                f"{one.used.peak_mib:.0f} MiB" if one.used and one.used.peak_mib else "–",
            ]
        )
    head = ["attack", "200s, of the capacity", "answers", "slowest", "`/healthz` p99", "memory"]
    seconds = f"on a quarter of a core, {shown[-1].load.duration_s:g} s for each overload, once"
    return f"{markdown(head, rows)}\n\n{_where(last)} {seconds}."


def _where(comparison: Comparison) -> str:
    return f"{measured_by(comparison.command, comparison.environment)}: {comparison.runs[0].measurement.name}"


def soak() -> str:
    """Returns the table of `python -m loadtest soak` with a caption. Raises NotMeasured if there is no result."""
    last = result("soak", Soak)
    planted = "; ".join(f"{fault}: {number}" for fault, number in sorted(last.faults.items()))
    audit, times = last.audit, last.latencies
    rows = [
        ["planted", planted],
        ["answers", answers(last.statuses)],
        ["lost of those that got 200, or in the queue with other bytes", f"{len(audit.lost) + audit.altered}"],
        ["twice in the queue", f"{audit.duplicates:,}"],
        ["in the queue without a 200", f"{audit.late:,}"],
        [
            "latency of all requests: median, p99, slowest",
            ", ".join(map(milliseconds, (times.p50, times.p99, times.slowest))),
        ],
        ["memory at its peak", f"{last.peak_mib:.0f} MiB"],
    ]
    sent = f"{last.load.rate:,} webhooks a second for {last.load.duration_s:,.0f} s, over TLS, once"
    return f"{markdown(['', ''], rows)}\n\n{measured_by(last.command, last.environment)}: {sent}."
