"""Makes the record of a soak test, which is a long attack with injected faults, and formats the record as text."""

from collections import Counter

from loadtest.fire import vegeta
from loadtest.fire.attack_measurement import Fired
from loadtest.fire.supervised import Supervised
from loadtest.interleaved import called
from loadtest.record.comparison import Environment
from loadtest.record.shapes import Load
from loadtest.record.soak_record import Soak


def of(
    where: Environment,
    seed: int,
    load: Load,
    *,
    fired: Fired,
    faults: Counter[str],
    service: Supervised,
) -> Soak:
    """Returns the record of a soak test. Its latencies are those of all requests, including failed requests."""
    assert fired.audit is not None
    return Soak(
        environment=where,
        command=called("--seed", str(seed)),
        seed=seed,
        load=load,
        webhooks=len(fired.hits),
        statuses=dict(sorted(Counter(str(hit.code) for hit in fired.hits).items())),
        latencies=vegeta.latencies(fired.report),
        audit=fired.audit,
        faults=dict(faults),
        starts=service.starts,
        peak_mib=service.peak_mib,
    )


def text(soak: Soak) -> str:
    """Returns the record as text, with a line for each group of figures."""
    answers = ", ".join(
        f"{'no answer' if status == '0' else status}: {number:,}" for status, number in soak.statuses.items()
    )
    audit, latencies = soak.audit, soak.latencies
    return "\n".join(
        [
            f"{soak.webhooks:,} webhooks: {answers}",
            f"audit: {audit.accepted:,} got 200, {len(audit.lost)} of them lost, {audit.altered} altered,"
            f" {audit.duplicates:,} duplicates, {audit.late:,} in the queue without a 200",
            f"latency: median {latencies.p50:,.0f} ms, p99 {latencies.p99:,.0f} ms,"
            f" slowest {latencies.slowest:,.0f} ms",
            f"memory: {soak.peak_mib:.0f} MiB at its peak; {soak.starts} starts",
            "faults: " + ", ".join(f"{name} {number}" for name, number in sorted(soak.faults.items())),
        ]
    )
