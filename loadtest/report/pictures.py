"""Draws the charts of README.md and loadtest/RESULTS.md as SVG pictures."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import vl_convert

from loadtest.record.comparison import Comparison
from loadtest.report import bar_charts, capacity_chart, charts, theme

SVG_SIZE = (640, 280)
_ROOM = {"left": 30, "right": 20, "top": 5, "bottom": 5}  # margins in pixels: room for text in wider fonts


def write(comparison: Comparison, out: Path) -> None:
    """Writes the pictures of a `history` to `out` as `<chart>-<theme>.svg`. Does not read the raw results."""
    shown = {
        "throughput": bar_charts.against_published(comparison, "rps"),
        "latencies": charts.latencies(comparison),
    }
    width, height = SVG_SIZE
    for name, spec in shown.items():
        _write(name, spec | {"width": width, "height": height}, out)


def write_capacity(comparison: Comparison, out: Path) -> None:
    """Writes the picture of a `bench` to `out` as `capacity-<theme>.svg`."""
    _write("capacity", capacity_chart.chart(comparison) | {"width": SVG_SIZE[0] - 180}, out)


def _write(name: str, spec: charts.Spec, out: Path) -> None:
    for kind in theme.THEMES:
        drawn = vl_convert.vegalite_to_svg(json.dumps(spec | {"padding": _ROOM, "config": theme.config(kind)}))
        (out / f"{name}-{kind}.svg").write_text(drawn + "\n", encoding="utf-8")


def stale(comparison: Comparison, folder: Path, draw: Callable[[Comparison, Path], None] = write) -> list[Path]:
    """Returns the pictures of `folder` that are missing, or that would change if `draw` drew them again."""
    with tempfile.TemporaryDirectory() as scratch:
        draw(comparison, Path(scratch))
        drawn = {folder / file.name: file.read_text(encoding="utf-8") for file in sorted(Path(scratch).glob("*.svg"))}
    return [file for file, fresh in drawn.items() if not file.exists() or file.read_text(encoding="utf-8") != fresh]
