"""Draws the charts of docs/lab.md as SVG, one for each study and one for each question, and writes lab.html."""

import json
import tempfile
from pathlib import Path

import vl_convert

from lab.measurement.case_record import LabResults
from lab.measurement.expected_answers import Answers
from lab.report import lab_charts, lab_page
from loadtest.report import theme
from loadtest.report.charts import Spec

SVG_WIDTH = 560


def write(lab: LabResults, answers: Answers, out: Path) -> None:
    """Writes `lab-<study>-<theme>.svg`, `question-<name>-<theme>.svg` and lab.html to `out`."""
    for study in lab.studies:
        _draw(lab_charts.ratios(study), out, f"lab-{study.name}")
    for answer in answers.answers:
        _draw(lab_charts.figure(answer), out, f"question-{answer.name}")
    lab_page.write(lab, answers, out)


def _draw(spec: Spec, out: Path, name: str) -> None:
    for kind in theme.THEMES:
        drawn = vl_convert.vegalite_to_svg(json.dumps(spec | {"width": SVG_WIDTH, "config": theme.config(kind)}))
        (out / f"{name}-{kind}.svg").write_text(drawn + "\n", encoding="utf-8")


def stale(lab: LabResults, answers: Answers, folder: Path) -> list[Path]:
    """Returns the files of `folder` that are missing or differ from what `write` writes."""
    with tempfile.TemporaryDirectory() as scratch:
        write(lab, answers, Path(scratch))
        drawn = {folder / file.name: file.read_text(encoding="utf-8") for file in sorted(Path(scratch).iterdir())}
    return [file for file, fresh in drawn.items() if not file.exists() or file.read_text(encoding="utf-8") != fresh]
