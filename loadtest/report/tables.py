"""Markdown tables of a comparison, for a terminal, README and CHANGELOG."""

from app.settings import NEWEST
from loadtest.record.estimate import Estimate, estimate, ratio
from loadtest.record.shapes import Comparison, Measurement
from loadtest.report.figures import CPU, PUBLISHED, value_of

THOUSAND = 1000
ALL_TIPS = "all tips"  # the name of the subject with none undone


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """A table whose first column is text and whose others are numbers."""
    aligned = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, aligned, *rows))


def _of(measured: list[Measurement], value: str) -> Estimate:
    return estimate(value_of(measurement, value) for measurement in measured)


def milliseconds(value: float) -> str:
    return f"{value:,.0f} ms" if value < THOUSAND else f"{value / THOUSAND:,.1f} s"


def _pair(release: str, key: str, measured: str, unit: str = "") -> str:
    published = PUBLISHED.get(release, {}).get(key)
    shown = "–" if published is None else milliseconds(published) if key.endswith("_ms") else f"{published:g}{unit}"
    return f"{shown} → {measured}"


def short(success: float, rps: float, p50_ms: float, p99_ms: float, **_: float) -> str:
    """One cell: success, throughput, median and 99th percentile."""
    return f"{success:.4g} %, {rps:.4g}/s, {milliseconds(p50_ms)}, {milliseconds(p99_ms)}"


def short_measured(runs: list[Measurement]) -> str:
    """The same of the median repeat of each value."""
    success, rps, p50, p99 = (_of(runs, value).median for value in ("success", "rps", "latencies.p50", "latencies.p99"))
    return short(success, rps, p50, p99)


def published(comparison: Comparison) -> str:
    """The published attack: published → measured."""
    rows = []
    for name in comparison.names("published"):
        runs = comparison.of("published", name)
        times = {key: milliseconds(_of(runs, f"latencies.{key}").median) for key in ("fastest", "p50", "p99")}
        rows.append(
            [
                name,
                _pair(name, "success", f"{_of(runs, 'success').text('.1f')} %", " %"),
                _pair(name, "rps", f"{_of(runs, 'rps').text('.0f')}/s", "/s"),
                *(_pair(name, f"{key}_ms", time) for key, time in times.items()),
                f"{_of(runs, CPU).median:.2f} ms",
                f"{_of(runs, 'used.peak_mib').median:.0f} MiB",
            ]
        )
    return markdown(["release", "success", "throughput", "fastest", "p50", "p99", "CPU a webhook", "memory"], rows)


def calibrated(comparison: Comparison) -> str:
    """The attack in dilated time, converted back: published → measured, and the ratio."""
    factor = comparison.factor
    rows = []
    for name in comparison.names("calibrated"):
        runs = comparison.of("calibrated", name)
        rate = estimate(run.rps * factor for run in runs)
        known = PUBLISHED.get(name, {}).get("rps")
        times = {key: milliseconds(_of(runs, f"latencies.{key}").median / factor) for key in ("p50", "p99")}
        rows.append(
            [
                name,
                _pair(name, "rps", f"{rate.text('.0f')}/s", "/s"),
                f"{rate.median / known:.2f} ({rate.low / known:.2f}–{rate.high / known:.2f})" if known else "–",
                _pair(name, "success", f"{_of(runs, 'success').text('.1f')} %", " %"),
                *(_pair(name, f"{key}_ms", time) for key, time in times.items()),
                f"{_of(runs, CPU).median / factor:.2f} ms",
            ]
        )
    head = ["release", "throughput", "measured ÷ published", "success", "p50", "p99", "CPU a webhook"]
    return markdown(head, rows) + f"\n\nTime is dilated by {factor:.2f}: see `loadtest/calibrated.py`."


def saturated(comparison: Comparison) -> str:
    """The closed loop on a quarter of a core."""
    rows = []
    for name in comparison.names("saturated"):
        runs = comparison.of("saturated", name)
        rows.append(
            [
                name,
                f"{_of(runs, 'rps').text('.0f')}/s",
                *(milliseconds(_of(runs, f"latencies.{key}").median) for key in ("p50", "p99")),
                f"{_of(runs, CPU).text('.2f')} ms",
                f"{_of(runs, 'used.peak_mib').median:.0f} MiB",
            ]
        )
    return markdown(["release", "throughput", "p50", "p99", "CPU a webhook", "memory"], rows)


def sustained(comparison: Comparison) -> str:
    """200/s for four minutes."""
    rows = []
    for name in comparison.names("sustained"):
        (run,) = comparison.of("sustained", name)
        times = [milliseconds(getattr(run.latencies, key)) for key in ("fastest", "mean", "p50", "p99")]
        used = run.used
        assert used is not None
        memory = "–" if used.peak_mib is None else f"{used.peak_mib:.0f} MiB"
        rows.append([name, f"{run.accepted:,} of {run.requests:,}", f"{run.rps:.1f}/s", *times, memory])
    return markdown(["release", "got 200", "throughput", "fastest", "mean", "p50", "p99", "memory"], rows)


def history(comparison: Comparison) -> str:
    """All tables of a history, for a terminal."""
    parts = [published(comparison), saturated(comparison)]
    if comparison.names("sustained"):
        parts.append(sustained(comparison))
    return "\n\n".join(parts)


def bench(comparison: Comparison) -> str:
    """Every subject beside the newest release, in duets; the first row is that release beside itself."""
    rows = []
    for kind in dict.fromkeys(run.kind for run in comparison.runs):
        ours, theirs = (_cpu(comparison, kind, name) for name in (kind, NEWEST))
        throughput = _of(comparison.of(kind, kind), "rps").text(",.0f")
        rows.append([kind, f"{estimate(ours).text('.3f')} ms", ratio(ours, theirs).text(".2f"), f"{throughput}/s"])
    told = f"Differences of {100 * resolution(comparison):.0f} % or more can be told here."
    return markdown(["", "CPU a webhook", f"times that of {NEWEST} beside it", "throughput"], rows) + f"\n\n{told}"


def resolution(comparison: Comparison) -> float:
    """How far from 1 the interval reaches for a release beside itself, at most."""
    again = comparison.runs[0].kind
    found = ratio(_cpu(comparison, again, again), _cpu(comparison, again, NEWEST))
    return max(found.high - 1, 1 - found.low)


def _cpu(comparison: Comparison, kind: str, name: str) -> list[float | None]:
    return [value_of(run, CPU) for run in comparison.of(kind, name)]


def tips(comparison: Comparison) -> str:
    """Every tip undone, beside all of them."""
    return _ratios(comparison, "saturated", ALL_TIPS)


def _ratios(comparison: Comparison, kind: str, reference: str) -> str:
    """CPU per accepted webhook, and its ratio to `reference` (omitted where that was not measured)."""
    names = comparison.names(kind)
    known = reference in names
    rows = []
    for name in names:
        cpu = _cpu(comparison, kind, name)
        times = ratio(cpu, _cpu(comparison, kind, reference)).text(".2f") if known else "–"
        throughput = _of(comparison.of(kind, name), "rps").text(",.0f")
        rows.append([name, f"{estimate(cpu).text('.3f')} ms", times, f"{throughput}/s"])
    return markdown(["", "CPU a webhook", f"times that of {reference}", "throughput"], rows)
