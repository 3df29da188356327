"""Functions that return figures. `.ci/figures.py` calls them to write figures into the prose of documents.

The functions take a short `name` of a release or program: `v02`, `go`, or the last word of a long name (`observed`).
"""

from loadtest.record.comparison import Comparison
from loadtest.record.price_estimate import estimate
from loadtest.record.shapes import Measurement
from loadtest.report import capacity, capacity_figures, ratios
from loadtest.report.cells import of
from loadtest.report.documents import newest, newest_worker, python_bench
from loadtest.report.figures import CPU, PUBLISHED
from loadtest.report.overload_report import per_second

__all__ = [
    "attack",
    "bench",
    "calibrated",
    "capacity",
    "capacity_figures",
    "cpu_us",
    "fits",
    "old_python",
    "overhead_ms",
    "overload",
    "overload_share",
    "published",
    "reproduced",
    "site_rate",
    "worker_calls",
    "worker_ratio",
]
SECOND = {"fastest": 1000, "p50": 1000}  # divisors of figures that are in ms and are returned in seconds
SPEED = "v02_blocking"  # its throughput determines f, the factor that dilates time: see `loadtest.calibrated`
COMPARED = ("v02", "v03", "v04", "v06", "v07")  # the releases with published throughput and latency


def _find(name: str, names: list[str]) -> str | None:
    """Returns the entry of `names` that matches `name`, which may be short. Returns None if none or several match."""
    short = {long: long.rpartition(" ")[2] if " " in long else long.partition("_")[0] for long in names}
    found = [long for long in names if long == name] or [long for long in names if short[long] == name]
    return found[0] if len(found) == 1 else None


def _named(name: str, names: list[str]) -> str:
    if (found := _find(name, names)) is None:
        raise ValueError(f"{name} names none of {', '.join(names)}, or several")
    return found


def published(name: str, value: str) -> float:
    """Returns a published figure. `value`: `rps`, `success` or `failed` (per cent), `fastest` or `p50` (seconds)."""
    figures = PUBLISHED[_named(name, list(PUBLISHED))]
    if value == "failed":
        return 100 - figures["success"]
    return figures[f"{value}_ms"] / SECOND[value] if value in SECOND else figures[value]


def calibrated(name: str, value: str, kind: str = "calibrated") -> float:
    """Returns a measured figure of a release, converted to the published machine's speed.

    `value`: as in `published`, or `cpu` (ms per webhook). `kind`: the attack, which is `calibrated` or `sustained`.
    """
    comparison, _ = newest("calibrated")
    runs, factor = comparison.of(kind, _named(name, comparison.names(kind))), comparison.factor
    match value:
        case "failed":
            return 100 - of(runs, "success").median
        case "success":
            return of(runs, "success").median
        case "rps":
            return of(runs, "rps").median * factor
        case "cpu":
            return of(runs, CPU).median / factor
        case _:
            return of(runs, f"latencies.{value}").median / factor / SECOND.get(value, 1)


def fits() -> list[float]:
    """Returns f (published throughput ÷ measured throughput) from each attack that measured it."""
    comparison, _ = newest("calibrated")
    return [PUBLISHED[one.name]["rps"] / one.rps for one in comparison.of("speed-with-overhead", SPEED)]


def overhead_ms() -> float:
    """Returns the CPU time in ms that `calibrated` adds to each request, converted to the published machine's speed."""
    comparison, _ = newest("calibrated")
    return comparison.overhead_ms / comparison.factor


def attack(part: str, kind: str, name: str, value: str) -> float:
    """Returns the median of a value over the repeats of an attack, not converted to the published machine's speed.

    `part`: the measurement, such as `history`. `kind`: the attack. `value`: `cpu`, or a path as in `figures.value_of`.
    """
    comparison, _ = newest(part)
    return of(comparison.of(kind, _named(name, comparison.names(kind))), CPU if value == "cpu" else value).median


def reproduced(value: str) -> list[float]:
    """Returns the measured value ÷ the published value for each release in COMPARED."""
    return [calibrated(name, value) / published(name, value) for name in COMPARED]


def bench(name: str, other: str = "again") -> float:
    """Returns the CPU per webhook of `name` ÷ that of `other`, which is by default the newest release.

    Each CPU is first divided by the CPU that the newest release took at the same time.
    """
    comparison, _ = newest("bench")
    return _beside(comparison, name) / _beside(comparison, other) if other != "again" else _beside(comparison, name)


def _beside(comparison: Comparison, name: str) -> float:
    kinds = list(dict.fromkeys(run.kind for run in comparison.runs))
    kind = _find(name, kinds)
    if kind is None and comparison.runs[1].measurement.name.startswith(f"{name}_"):
        return 1  # the newest release ÷ itself
    return ratios.beside_reference(comparison, kind or _named(name, kinds)).median


def overload(kind: str) -> Measurement:
    """Returns the attack `kind` of the newest `loadtest overload`. Raises NotMeasured if `overload` has no result."""
    [one] = [run.measurement for run in newest("overload")[0].runs if run.kind == kind]
    return one


def overload_share(kind: str) -> float:
    """Returns the 200s a second in an attack of `overload`, divided by the 200s a second at capacity."""
    return per_second(overload(kind)) / per_second(overload("capacity"))


def cpu_us(kind: str) -> float:
    """Returns the CPU per request in an attack of `overload`, in µs."""
    one = overload(kind)
    assert one.used is not None
    return 1e6 * one.used.cpu_s / one.requests


def old_python(name: str) -> float:
    """Returns a release's CPU under Debian 12's Python ÷ its CPU under Debian 13's, measured at the same time."""
    comparison = python_bench()
    kind = _named(name, list(dict.fromkeys(run.kind for run in comparison.runs)))
    return ratios.beside(comparison, kind, comparison.names(kind)[1]).median


def worker_ratio(full: bool = False) -> float:
    """Returns the worker's CPU per event ÷ the web process's CPU per webhook.

    `full`: use the CPU of a webhook in full batches, instead of its CPU at a low rate.
    """
    measured = capacity.measured()
    return measured.worker_ms / (capacity.full_ms() if full else measured.web_ms)


def worker_calls() -> float:
    """Returns how many calls to Chargebee a worker makes in a minute on a quarter of a core."""
    runs = newest_worker().runs
    return 60 * estimate(run.calls_per_event * run.events_per_s for run in runs).median


def site_rate() -> float:
    """Returns the events a second that can be billed on a Chargebee site within the API limit of the highest plan."""
    return capacity_figures.CHARGEBEE_CALLS["Enterprise"] / 60 / capacity.measured().chargebee_calls
