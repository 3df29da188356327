"""The charts of docs/lab.md, as SVG."""

import json
import tempfile
from pathlib import Path

import vl_convert

from lab.measurement.record import LabResults
from lab.report import charts
from loadtest.report import theme

SVG_WIDTH = 560


def write(lab: LabResults, out: Path) -> None:
    """Writes `lab-<study>-<theme>.svg` to `out`."""
    for study in lab.studies:
        spec = charts.ratios(study) | {"width": SVG_WIDTH}
        for kind in theme.THEMES:
            drawn = vl_convert.vegalite_to_svg(json.dumps(spec | {"config": theme.config(kind)}))
            (out / f"lab-{study.name}-{kind}.svg").write_text(drawn + "\n")


def stale(lab: LabResults, folder: Path) -> list[Path]:
    """The pictures of `folder` that are missing or differ from what `write` would draw."""
    with tempfile.TemporaryDirectory() as scratch:
        write(lab, Path(scratch))
        drawn = {folder / file.name: file.read_text() for file in sorted(Path(scratch).glob("*.svg"))}
    return [file for file, fresh in drawn.items() if not file.exists() or file.read_text() != fresh]
