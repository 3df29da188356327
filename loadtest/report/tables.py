"""Markdown tables of the commands `history` and `calibrated`, for a terminal and documents."""

from loadtest.record.comparison import Comparison
from loadtest.record.price_estimate import MedianEstimate, estimate
from loadtest.report.cells import known, label, latency, markdown, milliseconds, of, short
from loadtest.report.figures import CPU, PUBLISHED

NOT_YET = "not measured yet"
NOT_IN_THIS_RUN = "not in this run"
_CALIBRATED = {"calibrated": "", "sustained": ", sustained"}  # suffix of the release's name, by kind of attack


def _pair(release: str, key: str, measured: str, unit: str = "") -> tuple[str, str]:
    """Returns two cells: the published figure (`–` if it was not published) and the measured figure."""
    published = PUBLISHED.get(release, {}).get(key)
    shown = "–" if published is None else milliseconds(published) if key.endswith("_ms") else f"{published:g}{unit}"
    return shown, measured


def _pairs(*names: str) -> list[str]:
    """Returns two column heads for each figure: published and measured."""
    return [head for name in names for head in (f"{name}: published", "measured")]


def published(comparison: Comparison) -> str:
    """Returns the table of the published attack: published and measured figures."""
    head = ["release", *_pairs("success", "throughput", "fastest", "p50", "p99"), "CPU a webhook", "memory"]
    rows = []
    for name in comparison.names("published"):
        runs = comparison.of("published", name)
        times = {key: milliseconds(of(runs, f"latencies.{key}").median) for key in ("fastest", "p50")}
        times["p99"] = latency(of(runs, "latencies.p99"))
        rows.append(
            [
                label(name, runs),
                *_pair(name, "success", f"{of(runs, 'success').text('.1f')} %", " %"),
                *_pair(name, "rps", f"{of(runs, 'rps').text('.0f')}/s", "/s"),
                *(cell for key, time in times.items() for cell in _pair(name, f"{key}_ms", time)),
                known(of(runs, CPU).median, ".2f", "ms"),
                known(of(runs, "used.peak_mib").median, ".0f", "MiB"),
            ]
        )
    return markdown(head, rows)


def calibrated(comparison: Comparison) -> str:
    """Returns the table of the attacks in dilated time: published and measured figures, and the ratio of throughputs.

    In dilated time, all times are multiplied by a factor. The table's measured figures are converted back.
    """
    head = ["release", *_pairs("throughput"), "ratio", *_pairs("success", "p50"), "CPU a webhook"]
    rows = [_calibrated(comparison, kind, name) for kind in _CALIBRATED for name in comparison.names(kind)]
    overhead = comparison.overhead_ms
    spent = f", and a middleware spends {overhead:.2f} ms of CPU on each request" if overhead else ""
    return (
        markdown(head, rows) + f"\n\nTime is dilated by {comparison.factor:.2f}{spent}: see `loadtest/calibrated.py`."
    )


def _calibrated(comparison: Comparison, kind: str, release: str) -> list[str]:
    runs, factor, name = comparison.of(kind, release), comparison.factor, release + _CALIBRATED[kind]
    rate = estimate(run.rps * factor for run in runs)
    published = PUBLISHED.get(name, {}).get("rps")
    p50 = milliseconds(of(runs, "latencies.p50").median / factor)
    return [
        label(f"{name}, once" if len(runs) == 1 < comparison.repeats else name, runs),
        *_pair(name, "rps", f"{rate.text('.0f')}/s", "/s"),
        MedianEstimate(*(value / published for value in rate)).text(".2f") if published else "–",
        *_pair(name, "success", f"{of(runs, 'success').text('.1f')} %", " %"),
        *_pair(name, "p50_ms", p50),
        known(of(runs, CPU).median / factor, ".2f", "ms"),
    ]


def calibrated_short(comparison: Comparison, name: str) -> str:
    """Returns one cell: success, throughput, median, 99th percentile, and the throughput ÷ the published throughput.

    Returns NOT_IN_THIS_RUN if this run of `calibrated` does not include the release. Another run may include it.
    """
    runs, factor = comparison.of("calibrated", name), comparison.factor
    if not runs:
        return NOT_IN_THIS_RUN
    rps, p50, p99 = (of(runs, value).median for value in ("rps", "latencies.p50", "latencies.p99"))
    shown = short(of(runs, "success").median, rps * factor, p50 / factor, p99 / factor)
    published = PUBLISHED.get(name)
    return shown if published is None else f"{shown}; {rps * factor / published['rps']:.2f} ×"


def inline_short(history: Comparison, name: str) -> str:
    """Returns a cell for v01: success, throughput, median and 99th percentile, all from `history`.

    v01 has no figures in dilated time, because Chargebee's latency, which limits v01, is not dilated.
    """
    runs = history.of("published", name)
    if not runs:
        return NOT_YET
    rps, p50, p99 = (of(runs, value).median for value in ("rps", "latencies.p50", "latencies.p99"))
    return f"{short(of(runs, 'success').median, rps, p50, p99)}, in this machine's time"


def sustained(comparison: Comparison) -> str:
    """Returns the table of the attack with 200 webhooks a second for four minutes."""
    rows = []
    for name in comparison.names("sustained"):
        (run,) = comparison.of("sustained", name)
        times = [milliseconds(getattr(run.latencies, key)) for key in ("fastest", "mean", "p50", "p99")]
        used = run.used
        assert used is not None
        memory = "–" if used.peak_mib is None else f"{used.peak_mib:.0f} MiB"
        rows.append([label(name, [run]), f"{run.accepted:,} of {run.requests:,}", f"{run.rps:.1f}/s", *times, memory])
    return markdown(["release", "got 200", "throughput", "fastest", "mean", "p50", "p99", "memory"], rows)


def history(comparison: Comparison) -> str:
    """Returns all tables of a history, for a terminal."""
    parts = [published(comparison)]
    if comparison.names("sustained"):
        parts.append(sustained(comparison))
    return "\n\n".join(parts)
