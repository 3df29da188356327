"""Figures: the published ones, and those of a measurement by name."""

import json
from pathlib import Path
from typing import Any

from loadtest.record.shapes import Measurement

# By release, then success (per cent), rps, fastest_ms, mean_ms, p50_ms, p99_ms.
PUBLISHED: dict[str, dict[str, float]] = json.loads((Path(__file__).parents[1] / "published.json").read_text())[
    "releases"
]


def value_of(measurement: Measurement, path: str) -> float | None:
    """`path` is a field of Measurement, of its latencies (`latencies.p50`) or of what it used (`used.peak_mib`)."""
    value: Any = measurement
    for name in path.split("."):
        value = getattr(value, name)
    return None if value is None else float(value)
