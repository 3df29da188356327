"""Makes the generated parts of docs/lab.md and docs/questions, from the newest run of each study and question."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lab.measurement.case_record import LabResults, Study
from lab.measurement.expected_answers import Answer, Answers
from lab.measurement.questions import QUESTIONS
from lab.report import lab_answers, lab_pictures, lab_tables
from lab.report.published import PUBLISHED
from loadtest.record import index
from loadtest.record.comparison import Environment
from loadtest.record.folders import ROOT
from loadtest.report import captions, documents

DOCUMENT = ROOT / "docs"


class Run(NamedTuple):
    """The results in one folder: those of studies (`lab`) and those of questions (`answers`). Either may be empty."""

    lab: LabResults
    answers: Answers
    folder: Path


def read(folder: Path) -> Run:
    """Reads lab.json and questions.json of a folder. A file that is missing counts as empty."""
    lab, answers = LabResults(studies=[]), Answers(answers=[])
    if (file := folder / "lab.json").exists():
        lab = LabResults.model_validate_json(file.read_text(encoding="utf-8"))
    if (file := folder / "questions.json").exists():
        answers = Answers.model_validate_json(file.read_text(encoding="utf-8"))
    return Run(lab, answers, folder)


def newest(name: str) -> tuple[Study, Path]:
    """Returns the newest measurement of the study `name`, and its folder. Raises NotMeasured if there is none."""
    run = read(documents.folder(name))
    study = run.lab.study(name)
    assert study is not None  # the index of results names this folder for the study
    return study, run.folder


def newest_answer(name: str) -> tuple[Answer, Path]:
    """Returns the newest measurement of the question `name`, and its folder. Raises NotMeasured if there is none."""
    run = read(documents.folder(name))
    answer = run.answers.of(name)
    assert answer is not None  # the index of results names this folder for the question
    return answer, run.folder


def verdicts() -> str:
    """Returns the table of the studies' verdicts and the text of `measured`. Raises NotMeasured, as `measured` does."""
    return f"{lab_tables.verdicts([(of, _page(folder)) for of, folder in map(newest, PUBLISHED)])}\n\n{measured()}"


def measured() -> str:
    """Returns the command that measures a study or question, and the commit and machine of each measurement.

    Raises NotMeasured if a study or question was never measured.
    """
    groups: dict[str, list[str]] = {}
    for name, environment, repeats in _environments():
        groups.setdefault(f"{captions.where(environment, tls=False)}; {repeats} repeats", []).append(name)
    most = max(groups.values(), key=len)
    parts = [where if names is most else f"{', '.join(names)} {where}" for where, names in groups.items()]
    return f"Measured by `python -m lab measure --only NAME` {'. '.join(parts)}: median (interval)."


def _environments() -> Iterator[tuple[str, Environment, int]]:
    for name in PUBLISHED:
        yield name, newest(name)[0].environment, newest(name)[0].repeats
    for name in QUESTIONS:
        yield name, newest_answer(name)[0].environment, newest_answer(name)[0].repeats


def study(name: str) -> str:
    """Returns a study's picture, main comparisons and loads. Raises NotMeasured if the study was never measured."""
    measured, folder = newest(name)
    of = PUBLISHED[name]
    text = f"{of.title}: published ratios and measured ones"
    shown = documents.picture(folder, f"lab-{name}", text, DOCUMENT)
    return "\n\n".join(
        [shown, lab_tables.comparisons(measured, main=True), f"Published: {of.published}. Here: {of.here}."]
    )


def answer(name: str) -> str:
    """Returns the question's picture. Raises NotMeasured if the question was never measured."""
    text = f"{QUESTIONS[name].title}: {QUESTIONS[name].figure} of each case"
    return documents.picture(newest_answer(name)[1], f"question-{name}", text, DOCUMENT)


def number(name: str) -> str:
    """Returns the table of a question's claims, with provenance. Raises NotMeasured if there is no measurement."""
    return "\n\n".join([lab_answers.claims(newest_answer(name)[0]), answer_provenance(name)])


def def_or_async_def() -> str:
    """Returns the table of def_or_async_def.md, with provenance. Raises NotMeasured if there is no measurement."""
    name = "def_or_async_def"
    return "\n\n".join([lab_answers.def_or_async_def(newest_answer(name)[0]), answer_provenance(name)])


def answer_provenance(name: str) -> str:
    """Returns the load, the command, the commit and the machine of an answer, and a link to the page with every case.

    Raises NotMeasured if the question was never measured.
    """
    measured, folder = newest_answer(name)
    page = f"[Every case]({_page(folder, DOCUMENT / 'questions')}#{name})"
    return (
        f"{QUESTIONS[name].here}. {captions.measured_by(measured.command, measured.environment, tls=False)};"
        f" {measured.repeats} repeats: median (interval). {page}."
    )


def _page(folder: Path, document: Path = DOCUMENT) -> str:
    return f"{documents.relative(folder, document)}/lab.html"


def stale() -> list[Run]:
    """Returns each of the newest runs that has a missing or outdated page or picture."""
    folders = {documents.folder(name) for name in (*PUBLISHED, *QUESTIONS) if name in index.read().parts}
    return [run for run in map(read, sorted(folders)) if lab_pictures.stale(run.lab, run.answers, run.folder)]
