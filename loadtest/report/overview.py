"""The first table of RESULTS.md: a row for each release."""

from app.settings import Release
from loadtest.record.comparison import Comparison
from loadtest.record.shapes import Measurement
from loadtest.report.cells import known, label, latency, markdown, milliseconds, of, short
from loadtest.report.figures import CPU, PUBLISHED

HEAD = [
    "release",
    "CPU a webhook",
    "webhooks a second, quarter of a core",
    "attack, published: success, p50, p99",
    "attack, measured: success, p50, p99",
    "memory",
    "start",
]
_UNKNOWN = "–"


def overview(history: Comparison, bench: Comparison) -> str:
    """Returns the table: CPU and capacity from `bench`, the others from `history`; `–` for what was not measured."""
    return markdown(HEAD, [_row(release, history, bench) for release in Release])


def _row(release: Release, history: Comparison, bench: Comparison) -> list[str]:
    attacks, saturated = history.of("published", release), _saturated(bench, release)
    published = PUBLISHED.get(release)
    return [
        label(release.value, [*attacks, *saturated]),
        f"{of(saturated, CPU).text('.3f')} ms" if saturated else _UNKNOWN,
        of(saturated, "rps").text(",.0f") if saturated else _UNKNOWN,
        short(**{key: value for key, value in published.items() if key != "rps"}) if published else _UNKNOWN,
        _attack(attacks) if attacks else _UNKNOWN,
        known(of(attacks, "used.peak_mib").median, ".0f", "MiB"),
        milliseconds(1000 * of(attacks, "used.ready_s").median) if attacks else _UNKNOWN,
    ]


def _saturated(bench: Comparison, release: Release) -> list[Measurement]:
    """Returns the repeats of the release; those of the newest are the ones beside itself."""
    names = (run.kind for run in bench.runs if run.kind.partition(" ")[0] == release)
    kind = next(names, None)
    return bench.of(kind, kind) if kind is not None else []


def _attack(attacks: list[Measurement]) -> str:
    answered = short(of(attacks, "success").median, p50_ms=of(attacks, "latencies.p50").median)
    return f"{answered}, {latency(of(attacks, 'latencies.p99'))}"
