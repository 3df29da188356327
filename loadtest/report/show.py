"""The report that attack.sh prints at the end."""

from pathlib import Path

from app.settings import Release
from loadtest.fire import vegeta
from loadtest.record.comparison import AttackRecord
from loadtest.record.shapes import Audit, ProbeLatencies, Used
from loadtest.report import dots
from loadtest.report.meaning import meaning

NAMED = 3  # at most this many lost webhooks are printed; meta.json has all of them


def attack(attack: AttackRecord, out: Path) -> None:
    """Prints the report of an attack, and writes plot.html and the picture of every request to `out`.

    The report has vegeta's text report, the probes and the audit. For a service at --url, it also explains the figures.
    For any other service, it also has the budget and the used CPU and memory.
    """
    measured = attack.measurement
    (out / "plot.html").write_text(vegeta.plot(out / "results.bin"), encoding="utf-8")
    print(vegeta.report(out / "results.bin", "text"), end="")
    if measured.used is not None:
        print("\n".join(_used(measured.used)))
    if (probes := measured.probes) is not None:
        print(f"{probes.path}, on a new connection each: {_probes(probes)}")
    if measured.request is None:
        print(f"audit: {_audit(measured.audit, measured.release)}")
    for doubt in measured.conditions.doubts if measured.conditions else ():
        print(f"DOUBTFUL: {doubt}")
    if measured.used is None:
        print(meaning(measured))
    dots.write(measured, out)
    print(f"results: {out} (requests.svg shows every request; plot.html shows latency over time)")


def _probes(probes: ProbeLatencies) -> str:
    failed = f"{probes.number}, {probes.failed} of them failed" if probes.failed else f"{probes.number}"
    if probes.p50 is None:
        return failed
    return f"{failed}; p50 {probes.p50:,.0f} ms, p99 {probes.p99:,.0f} ms, slowest {probes.slowest:,.0f} ms"


def _used(used: Used) -> list[str]:
    limits = f"{used.cpus:g} cores, {used.memory_mib:g} MiB" if used.limited else "NOT CAPPED"
    cpu = (
        "–"
        if used.cpu_ms_per_accepted is None
        else f"{used.cpu_ms_per_accepted:.2f} ms of CPU per webhook that got 200"
    )
    peak = "not available" if used.peak_mib is None else f"{used.peak_mib:.0f} MiB at its peak"
    return [
        f"budget: {used.budget}, {limits} (by {used.how}); ready after {used.ready_s:.1f} s",
        f"cpu: {cpu} ({used.cpu_s:.2f} s in all)",
        f"memory: {peak}",
    ]


def _audit(audit: Audit | None, release: str | None) -> str:
    if audit is None:
        return "not made: name the queue with --queue-url"
    verdict = "holds" if audit.holds else "FAILED"
    facts = f"{audit.accepted:,} got 200, {len(audit.lost):,} of them lost"
    if audit.lost:
        facts += f" ({', '.join(audit.lost[:NAMED])}{', …' if len(audit.lost) > NAMED else ''})"
    if release == Release.V01_INLINE:
        others = {"closed with wrong charges": audit.altered, "closed without a 200": audit.late}
    else:
        others = {
            "in the queue with other bytes than sent": audit.altered,
            "in the queue twice": audit.duplicates,
            "in the queue without a 200": audit.late,
        }
    others["with an unexpected id in the response"] = audit.unasked
    return "; ".join([f"{verdict}: {facts}", *(f"{count:,} {what}" for what, count in others.items() if count)])
