"""The charts of README and CHANGELOG, as SVG."""

import json
import tempfile
from pathlib import Path

import vl_convert

from loadtest.record.comparison import Comparison
from loadtest.report import charts, figures, theme

SVG_SIZE = (640, 280)


def write(comparison: Comparison, out: Path) -> None:
    """Writes `<chart>-<theme>.svg` to `out`; requires no raw results."""
    shown = {
        "throughput": charts.against_published(comparison, "rps"),
        "cpu": charts.saturated(comparison, figures.CPU, "CPU a webhook, ms, on a quarter of a core"),
        "latencies": charts.latencies(comparison),
    }
    for name, spec in shown.items():
        width, height = SVG_SIZE
        for kind in theme.THEMES:
            sized = spec | {"width": width, "height": height, "config": theme.config(kind)}
            (out / f"{name}-{kind}.svg").write_text(vl_convert.vegalite_to_svg(json.dumps(sized)) + "\n")


def stale(comparison: Comparison, folder: Path) -> list[Path]:
    """The pictures of `folder` that are missing or differ from what `write` would draw."""
    with tempfile.TemporaryDirectory() as scratch:
        write(comparison, Path(scratch))
        drawn = {folder / file.name: file.read_text() for file in sorted(Path(scratch).glob("*.svg"))}
    return [file for file, fresh in drawn.items() if not file.exists() or file.read_text() != fresh]
