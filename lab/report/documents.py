"""The generated parts of docs/lab.md and docs/questions: of each study and question, the newest complete run."""

from collections.abc import Iterator
from pathlib import Path

from lab.measurement.answers import Answer, Answers
from lab.measurement.questions import QUESTIONS
from lab.measurement.record import LabResults, Study
from lab.report import answers as lab_answers
from lab.report import pictures as lab_pictures
from lab.report import tables as lab_tables
from lab.report.published import PUBLISHED
from loadtest.record.folders import RESULTS, ROOT, UNPUBLISHED
from loadtest.report import captions, documents
from loadtest.report.documents import NotMeasured

DOCUMENT = ROOT / "docs"


def _labs() -> Iterator[tuple[LabResults, Path]]:
    """Yields the results and the folder of every run, except those that documents leave out."""
    for file in RESULTS.glob("*/lab.json"):
        if not file.parent.name.endswith(UNPUBLISHED):
            yield LabResults.model_validate_json(file.read_text(encoding="utf-8")), file.parent


def _answers() -> Iterator[tuple[Answers, Path]]:
    """Yields the answers and the folder of every run, except those that documents leave out."""
    for file in RESULTS.glob("*/questions.json"):
        if not file.parent.name.endswith(UNPUBLISHED):
            yield Answers.model_validate_json(file.read_text(encoding="utf-8")), file.parent


def newest_answer(name: str) -> tuple[Answer, Path]:
    """The last measurement of that question, and its folder. Raises NotMeasured."""
    found = [(answer, folder) for answers, folder in _answers() if (answer := answers.of(name))]
    if not found:
        raise NotMeasured(
            f"loadtest/results: {name} is in no questions.json; `python -m lab --only {name}` measures it"
        )
    return max(found, key=lambda one: one[0].environment.started)


def answered() -> list[Answer]:
    """The last measurement of each question that has been measured."""
    return [newest_answer(name)[0] for name in QUESTIONS if any(answers.of(name) for answers, _ in _answers())]


def questions() -> str:
    """One line for each claim on each question that has been measured."""
    return lab_answers.verdicts(answered())


def answer(name: str) -> str:
    """The question's picture, its figures and claims, and where they come from. Raises NotMeasured."""
    measured, folder = newest_answer(name)
    text = f"{QUESTIONS[name].title}: {QUESTIONS[name].figure} of each case"
    drawn = documents.picture(folder, f"question-{name}", text, DOCUMENT)
    return "\n\n".join([drawn, lab_answers.figures(measured), lab_answers.claims(measured), answer_provenance(name)])


def number(name: str) -> str:
    """The claims on a question, and where they come from, for its page. Raises NotMeasured."""
    return "\n\n".join([lab_answers.claims(newest_answer(name)[0]), answer_provenance(name)])


def def_or_async_def() -> str:
    """The table of the leading page, and where it comes from. Raises NotMeasured."""
    name = "def_or_async_def"
    return "\n\n".join([lab_answers.def_or_async_def(newest_answer(name)[0]), answer_provenance(name)])


def answer_provenance(name: str) -> str:
    """The load, the command, the commit, the machine. Raises NotMeasured."""
    measured, _ = newest_answer(name)
    return (
        f"{QUESTIONS[name].here}. {captions.measured_by(measured.command, measured.environment)};"
        f" {measured.repeats} interleaved repeats: median (interval)."
    )


def newest(name: str) -> tuple[Study, Path]:
    """The last measurement of that study, and its folder. Raises NotMeasured."""
    found = [(study, folder) for lab, folder in _labs() if (study := lab.study(name))]
    if not found:
        raise NotMeasured(
            f"loadtest/results: {name} is in no lab.json; `python -m lab measure --only {name}` measures it"
        )
    return max(found, key=lambda one: one[0].environment.started)


def study(name: str) -> str:
    """Returns the text about a study: its comparisons, the verdict, and which run measured them. Raises NotMeasured."""
    measured, folder = newest(name)
    parts = [picture(name), lab_tables.comparisons(measured), lab_tables.verdict(measured)]
    return "\n\n".join([*parts, provenance(measured, folder)])


def rows(name: str) -> str:
    """Returns a table of every case of the study. Raises NotMeasured."""
    measured, _ = newest(name)
    return lab_tables.rows(measured)


def picture(name: str) -> str:
    """Published ratios beside measured ones. Raises NotMeasured."""
    _, folder = newest(name)
    text = f"{PUBLISHED[name].title}: published ratios beside measured ones"
    return documents.picture(folder, f"lab-{name}", text, DOCUMENT)


def provenance(study: Study, folder: Path) -> str:
    """The source and the published load, what differs here, the command, the commit, the machine."""
    published = PUBLISHED[study.name]
    page = f"[lab.html]({documents.relative(folder, DOCUMENT)}/lab.html)"
    measured = captions.measured_by(study.command, study.environment)
    return (
        f"Published: {published.source}; {published.published}. Here: {published.here}. {measured};"
        f" {study.repeats} interleaved repeats: median (interval). All of it: {page}."
    )


def verdicts() -> str:
    """One line for each study. Raises NotMeasured."""
    return lab_tables.verdicts([newest(name)[0] for name in PUBLISHED])


def stale() -> list[tuple[LabResults | Answers, Path]]:
    """The newest runs whose pictures are missing or differ from a redraw."""
    folders = {newest(name)[1] for name in PUBLISHED if any(lab.study(name) for lab, _ in _labs())}
    asked = {newest_answer(answer.name)[1] for answer in answered()}
    found: list[tuple[LabResults | Answers, Path]] = [
        *((lab, folder) for lab, folder in _labs() if folder in folders),
        *((answers, folder) for answers, folder in _answers() if folder in asked),
    ]
    return [(results, folder) for results, folder in found if lab_pictures.stale(results, folder)]
