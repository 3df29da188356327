"""Markdown tables of ratios: a program's CPU per accepted webhook, divided by another program's CPU in the same run."""

from loadtest.duet import AGAIN
from loadtest.record.comparison import Comparison, Run
from loadtest.record.price_estimate import MedianEstimate, estimate, ratio
from loadtest.record.shapes import Measurement
from loadtest.report.cells import label, markdown, of
from loadtest.report.figures import CPU, value_of

# FEWEST: an interval with 93 % confidence needs at least this many repeats. NARROW: an interval is narrow if its width
# is at most this share of the ratio.
FEWEST, NARROW = 5, 0.1


def bench(comparison: Comparison) -> str:
    """Returns a table with each program's CPU, the ratio to the newest release's CPU, and the throughput.

    Each program ran at the same time as the newest release (a duet). In the first row, this release ran beside itself.
    """
    reference = comparison.runs[1].measurement.name
    rows = []
    for kind in dict.fromkeys(run.kind for run in comparison.runs):
        cpu = estimate(_cpu(comparison, kind, kind)).text(".3f")
        throughput = of(comparison.of(kind, kind), "rps").text(",.0f")
        name = label(kind, _both(comparison, kind))
        rows.append([name, f"{cpu} ms", beside_reference(comparison, kind).text(".2f"), f"{throughput}/s"])
    head = ["", "CPU a webhook", f"÷ {reference}", "throughput"]
    return f"{markdown(head, rows)}\n\n{of_itself(comparison)}"


def beside_reference(comparison: Comparison, kind: str) -> MedianEstimate:
    """Returns the CPU of the program `kind` divided by the newest release's CPU. Both ran at the same time (a duet)."""
    return beside(comparison, kind, comparison.runs[1].measurement.name)


def beside(comparison: Comparison, kind: str, other: str) -> MedianEstimate:
    """Returns the CPU of the program `kind` divided by the CPU of `other`. Both ran at the same time (a duet)."""
    return ratio(_cpu(comparison, kind, kind), _cpu(comparison, kind, other))


def gain(comparison: Comparison, before: str, after: str) -> MedianEstimate:
    """Returns the CPU of `before` divided by the CPU of `after`.

    The two programs ran at different times, each beside the newest release. Because the machine's speed varies, each
    CPU is first divided by the CPU that the newest release took at the same time.
    """
    return ratio(_relative(comparison, before), _relative(comparison, after))


def duets_of(comparison: Comparison, name: str) -> str:
    """Returns the `kind` of the runs of `name`: `name`, followed by AGAIN if it also ran beside a copy of itself."""
    again = f"{name} {AGAIN}"
    return again if any(run.kind == again for run in comparison.runs) else name


def _relative(comparison: Comparison, name: str) -> list[float | None]:
    """Returns, for each repeat, the program's CPU divided by the newest release's CPU in the same duet."""
    kind, reference = duets_of(comparison, name), comparison.runs[1].measurement.name
    cpus = zip(_cpu(comparison, kind, kind), _cpu(comparison, kind, reference), strict=True)
    return [ours / theirs if ours is not None and theirs is not None else None for ours, theirs in cpus]


def narrow(runs: list[Run]) -> bool:
    """Returns True if a pair of programs has at least FEWEST repeats, and the interval of their CPU ratio is narrow."""
    cpus = [value_of(run.measurement, CPU) for run in runs]
    found = ratio(cpus[::2], cpus[1::2])
    return len(runs) >= 2 * FEWEST and found.high - found.low <= NARROW * found.median


def of_itself(comparison: Comparison) -> str:
    """Returns a sentence: how much the newest release differs from itself. This does not bound other rows' errors."""
    reference = comparison.runs[1].measurement.name
    return (
        f"{reference} beside itself differs by up to {100 * resolution(comparison):.0f} %; for others, see intervals."
    )


def against(comparison: Comparison) -> str:
    """Returns a table of duets, in which two programs ran at the same time.

    Each release ran beside itself, and beside the same release at another commit or under another Python.
    """
    ours, theirs = comparison.environment.commit, comparison.against
    rows, told = [], 0.0  # `told`: the largest difference between two copies of a release, which is noise
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
    noise = f"A release beside itself differs by up to {100 * told:.0f} %."
    return f"{markdown(head, rows)}\n\nBelow 1, {ours} needs less CPU than {theirs}. {noise}"


def resolution(comparison: Comparison) -> float:
    """Returns the largest distance from 1 in the interval of the CPU ratio of two copies of the newest release."""
    again, reference = (run.measurement.name for run in comparison.runs[:2])
    found = ratio(_cpu(comparison, again, again), _cpu(comparison, again, reference))
    return _distance(found)


def _distance(found: MedianEstimate) -> float:
    """Returns the distance between 1 and the farther end of the interval."""
    return max(found.high - 1, 1 - found.low)


def _both(comparison: Comparison, kind: str) -> list[Measurement]:
    """Returns the measurements of both programs of a duet, because a doubt about one makes the ratio doubtful."""
    return [run.measurement for run in comparison.runs if run.kind == kind]


def _cpu(comparison: Comparison, kind: str, name: str) -> list[float | None]:
    return [value_of(run, CPU) for run in comparison.of(kind, name)]
