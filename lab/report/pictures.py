"""Draws the charts of docs/lab.md as SVG, one for each study and one for each question, and writes lab.html."""

import json
import tempfile
from pathlib import Path

import vl_convert

from lab.measurement.answers import Answers
from lab.measurement.record import LabResults
from lab.report import charts, page
from loadtest.report import theme
from loadtest.report.charts import Spec

SVG_WIDTH = 560


def write(lab: LabResults, out: Path) -> None:
    """Writes lab.html and `lab-<study>-<theme>.svg` to `out`."""
    page.write(lab, out)
    for study in lab.studies:
        _draw(charts.ratios(study), out, f"lab-{study.name}")


def write_answers(answers: Answers, out: Path) -> None:
    """Writes `question-<name>-<theme>.svg` to `out`."""
    for answer in answers.answers:
        _draw(charts.figure(answer), out, f"question-{answer.name}")


def _draw(spec: Spec, out: Path, name: str) -> None:
    for kind in theme.THEMES:
        drawn = vl_convert.vegalite_to_svg(json.dumps(spec | {"width": SVG_WIDTH, "config": theme.config(kind)}))
        (out / f"{name}-{kind}.svg").write_text(drawn + "\n", encoding="utf-8")


def stale(results: LabResults | Answers, folder: Path) -> list[Path]:
    """Returns the files of `folder` that are missing or differ from what `redraw` writes."""
    with tempfile.TemporaryDirectory() as scratch:
        redraw(results, Path(scratch))
        drawn = {folder / file.name: file.read_text(encoding="utf-8") for file in sorted(Path(scratch).iterdir())}
    return [file for file, fresh in drawn.items() if not file.exists() or file.read_text(encoding="utf-8") != fresh]


def redraw(results: LabResults | Answers, out: Path) -> None:
    """Writes the files of either to `out`."""
    if isinstance(results, Answers):
        write_answers(results, out)
    else:
        write(results, out)
