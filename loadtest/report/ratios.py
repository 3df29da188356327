"""Markdown tables of CPU per accepted webhook, as ratios within one run."""

from loadtest.duet import AGAIN
from loadtest.record.comparison import Comparison
from loadtest.record.estimate import MedianEstimate, estimate, ratio
from loadtest.record.shapes import Measurement
from loadtest.report.cells import label, markdown, of
from loadtest.report.figures import CPU, value_of


def bench(comparison: Comparison) -> str:
    """Every subject beside the reference, in duets; the first row is the reference beside itself."""
    reference = comparison.runs[1].measurement.name
    rows = []
    for kind in dict.fromkeys(run.kind for run in comparison.runs):
        ours, theirs = (_cpu(comparison, kind, name) for name in (kind, reference))
        throughput = of(comparison.of(kind, kind), "rps").text(",.0f")
        name = label(kind, _both(comparison, kind))
        rows.append([name, f"{estimate(ours).text('.3f')} ms", ratio(ours, theirs).text(".2f"), f"{throughput}/s"])
    told = f"Differences of {100 * resolution(comparison):.0f} % or more can be told here."
    return markdown(["", "CPU a webhook", f"times that of {reference} beside it", "throughput"], rows) + f"\n\n{told}"


def against(comparison: Comparison) -> str:
    """Returns a table of every release beside itself and beside the same release of another commit or Python."""
    ours, theirs = comparison.environment.commit, comparison.against
    rows, told = [], 0.0  # `told`: the least difference that no release beside itself shows
    for kind in dict.fromkeys(run.kind for run in comparison.runs):
        beside = comparison.names(kind)[1]
        cpu, other = _cpu(comparison, kind, kind), _cpu(comparison, kind, beside)
        found = ratio(cpu, other)
        again = kind == f"{beside} {AGAIN}"
        told = max(told, _distance(found)) if again else told
        rows.append(
            [
                label(beside.partition(" ")[0], _both(comparison, kind)),
                f"{ours} beside itself" if again else f"{ours} beside {theirs}",
                *(f"{estimate(values).text('.3f')} ms" for values in (cpu, other)),
                found.text(".2f"),
            ]
        )
    head = ["release", "commits", "CPU a webhook", "of the one beside it", "ratio"]
    smallest = f"Differences of {100 * told:.0f} % or more can be told here."
    return f"{markdown(head, rows)}\n\nBelow 1, {ours} needs less CPU than {theirs}. {smallest}"


def resolution(comparison: Comparison) -> float:
    """How far from 1 the interval reaches for the reference beside itself, at most."""
    again, reference = (run.measurement.name for run in comparison.runs[:2])
    found = ratio(_cpu(comparison, again, again), _cpu(comparison, again, reference))
    return _distance(found)


def _distance(found: MedianEstimate) -> float:
    """How far from 1 the interval reaches, at most."""
    return max(found.high - 1, 1 - found.low)


def _both(comparison: Comparison, kind: str) -> list[Measurement]:
    """Returns the measurements of both subjects of a duet: a doubt of either one makes the ratio doubtful."""
    return [run.measurement for run in comparison.runs if run.kind == kind]


def _cpu(comparison: Comparison, kind: str, name: str) -> list[float | None]:
    return [value_of(run, CPU) for run in comparison.of(kind, name)]
