"""The first table of RESULTS.md: a row for each release, then a row for each other program that `bench` measures."""

from app.settings import Release
from loadtest.duet import AGAIN
from loadtest.record.comparison import Comparison
from loadtest.record.shapes import Measurement
from loadtest.report import ratios
from loadtest.report.cells import known, label, latency, markdown, of, short
from loadtest.report.figures import CPU

_UNKNOWN = "–"


def overview(history: Comparison, bench: Comparison) -> str:
    """Returns the table. CPU and throughput are from `bench`, all other figures from `history`. `–`: not measured."""
    reference = bench.runs[1].measurement.name
    kinds = {kind.removesuffix(f" {AGAIN}"): kind for kind in dict.fromkeys(run.kind for run in bench.runs)}
    head = ["", "CPU a webhook", f"÷ {reference}", "webhooks a second", "attack: success, p50, p99", "memory"]
    names = dict.fromkeys([*(release.value for release in Release), *kinds])
    return markdown(head, [_row(name, kinds.get(name), history, bench) for name in names])


def _row(name: str, kind: str | None, history: Comparison, bench: Comparison) -> list[str]:
    attacks = history.of("published", name)
    duets = bench.of(kind, kind) if kind else []
    return [
        label(name, [*attacks, *(run.measurement for run in bench.runs if run.kind == kind)]),
        f"{of(duets, CPU).text('.3f')} ms" if duets else _UNKNOWN,
        ratios.beside_reference(bench, kind).text(".2f") if kind else _UNKNOWN,
        of(duets, "rps").text(",.0f") if duets else _UNKNOWN,
        _attack(attacks) if attacks else _UNKNOWN,
        known(of(attacks, "used.peak_mib").median, ".0f", "MiB") if attacks else _UNKNOWN,
    ]


def _attack(attacks: list[Measurement]) -> str:
    answered = short(of(attacks, "success").median, p50_ms=of(attacks, "latencies.p50").median)
    return f"{answered}, {latency(of(attacks, 'latencies.p99'))}"
