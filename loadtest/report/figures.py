"""The published figures of the original service, and access to a measurement's fields by name."""

import json
from pathlib import Path
from typing import Any, Literal

from loadtest.record.shapes import Measurement

# The published figures by release: success (per cent), rps (requests per second), and latencies such as p50_ms.
PUBLISHED: dict[str, dict[str, float]] = json.loads(
    Path(__file__).with_name("published.json").read_text(encoding="utf-8")
)["releases"]

Scale = Literal["linear", "log"]
# By field of published.json: the chart's title, the path of the field in a Measurement, and the axis's scale.
METRICS: dict[str, tuple[str, str, Scale]] = {
    "rps": ("Throughput, webhooks a second", "rps", "linear"),
    "success": ("Webhooks with a 200, per cent", "success", "linear"),
    "fastest_ms": ("Fastest answer, ms", "latencies.fastest", "log"),
    "p50_ms": ("Median latency, ms", "latencies.p50", "log"),
    "p99_ms": ("99th percentile of latency, ms", "latencies.p99", "log"),
}
CPU = "used.cpu_ms_per_accepted"


def value_of(measurement: Measurement, path: str) -> float | None:
    """Returns the field at `path`, such as `rps`, `latencies.p50` or `used.peak_mib`, or None if its value is None."""
    value: Any = measurement
    for name in path.split("."):
        value = getattr(value, name)
    return None if value is None else float(value)


def middle(runs: list[Measurement]) -> Measurement:
    """Returns the repeat with the median throughput."""
    return sorted(runs, key=lambda run: run.rps)[len(runs) // 2]
