"""Measures questions, and writes questions.json after each question."""

import shutil
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from app import open_files
from lab.measurement.beside import Beside, open_beside
from lab.measurement.case_run import Plan
from lab.measurement.expected_answers import Answer, Answers, CaseRun
from lab.measurement.question import Case, NotHere
from lab.measurement.questions import QUESTIONS
from lab.measurement.stage import Stage
from loadtest.fire import progress
from loadtest.record import folders
from loadtest.record.comparison import Environment
from local.machine import Watch


def ask(names: Collection[str], plan: Plan, file: Path, where: Environment) -> Answers:
    """Measures the questions `names`, and replaces their earlier answers in `file`. Returns all answers in `file`.

    Raises the errors of `loadtest.stage.subject.start`, of `open_beside` and of the questions' cases.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    open_files.raise_limit()
    kept = Answers.model_validate_json(file.read_text(encoding="utf-8")).answers if file.exists() else []
    answers = {answer.name: answer for answer in kept}
    for name in (name for name in QUESTIONS if name in names):
        with open_beside(QUESTIONS[name].database) as beside:
            runs = _rounds(beside, name, plan, file)
        command = plan.command(name)
        answers[name] = Answer(name=name, command=command, environment=where, repeats=plan.repeats, runs=runs)
        ordered = [answers[name] for name in QUESTIONS if name in answers]
        file.write_text(Answers(answers=ordered).model_dump_json() + "\n", encoding="utf-8")
    return Answers.model_validate_json(file.read_text(encoding="utf-8"))


def _rounds(beside: Beside, name: str, plan: Plan, file: Path) -> list[CaseRun]:
    """Measures every case once in each repeat (interleaved), so that a slow phase of the machine affects all cases."""
    runs = []
    cases = QUESTIONS[name].chosen(plan.quick)
    with progress.steps(name, plan.repeats * len(cases)) as step:
        for repeat in range(plan.repeats):
            for case, measure in cases.items():
                step(f"{case}, {repeat + 1}/{plan.repeats}")
                folder = folders.raw(file, name, case.replace("/", "-"), repeat)
                shutil.rmtree(folder, ignore_errors=True)
                with suppress(NotHere):
                    runs.append(_run(Stage(beside, folder, plan.quick), case, measure, repeat))
    return runs


def _run(stage: Stage, name: str, measure: Case, repeat: int) -> CaseRun:
    with Watch() as machine:
        figures = measure(stage)
    return CaseRun(case=name, repeat=repeat, figures=figures, doubts=[*machine.busy.doubts(), *stage.doubts])
