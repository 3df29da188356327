"""Writes lab.html, one self-contained file: an index, and a part for each study and question.

The page shows either the index or one part.
"""

from base64 import b64encode
from pathlib import Path

from markupsafe import Markup

from lab.measurement.case_record import LabResults
from lab.measurement.expected_answers import Answers
from lab.measurement.questions import QUESTIONS
from lab.report import lab_answers, lab_tables, outcomes
from lab.report.published import PUBLISHED
from loadtest.report import captions
from loadtest.report.page import render


def write(lab: LabResults, answers: Answers, out: Path) -> None:
    """Writes `lab.html` to `out`. The pictures must already be in `out`."""

    def picture(name: str) -> Markup:
        light, dark = (_embedded(out / f"{name}-{kind}.svg") for kind in ("light", "dark"))
        images = Markup('<source media="(prefers-color-scheme: dark)" srcset="{}"><img alt="" src="{}">')
        return Markup('<figure class="scroll"><picture>{}</picture></figure>').format(images.format(dark, light))

    text = render(
        "page.html.j2",
        {},
        package=__package__,
        studies=lab.studies,
        links=[(study, "") for study in lab.studies],
        answers=answers.answers,
        questions=QUESTIONS,
        published=PUBLISHED,
        measured_by=captions.measured_by,
        lab=outcomes,
        asked=lab_answers,
        tables=lab_tables,
        picture=picture,
    )
    (out / "lab.html").write_text(text, encoding="utf-8")


def _embedded(picture: Path) -> str:
    return f"data:image/svg+xml;base64,{b64encode(picture.read_bytes()).decode('ascii')}"
