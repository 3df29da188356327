"""Measure the published sync/async experiments, and what users ask about FastAPI.

Each endpoint is measured in a closed loop. The endpoints of the talk's appendix are also measured in the published open
loop. Repeats are interleaved. The closed loops of the appendix run on a quarter of a core. The talk's tips are compared
in duets: two labs run at the same time, each on a quarter of a core. Other endpoints get more CPU, and share the
machine with the load generator, a slow upstream and Postgres. The command writes to loadtest/results/<date>-<commit>:
lab.json for the studies, questions.json for the questions, lab.html for both, and pictures. With --only, it replaces
only the results of the named studies and questions. A full run takes over two hours.
"""

from pathlib import Path

import click

from lab.measurement.ask import ask
from lab.measurement.case_run import QUICK_SCALE, SCALE, Plan, run
from lab.measurement.questions import QUESTIONS
from lab.measurement.studies import STUDIES
from lab.report import lab_answers, lab_documents, lab_pictures, lab_tables
from loadtest.failures import exit_on_failure
from loadtest.record import folders, meta
from loadtest.record.comparison import Environment
from loadtest.stage import tools
from loadtest.stage.awake import awake

REPEATS = 3


@click.command(help=__doc__)
@click.option(
    "--only", multiple=True, type=click.Choice([*STUDIES, *QUESTIONS]), help="Only this study or question (repeatable)."
)
@click.option("--quick", is_flag=True, help="A trial run, once: few cases, a second each, in studies 50 users.")
@click.option("--repeats", type=click.IntRange(1, 50), help="[default: 3; with --quick 1]")
@click.option("--scale", type=click.FloatRange(0.001, 1), help="Of the database. [default: 0.01; with --quick 0.001]")
@click.option("--out", type=click.Path(path_type=Path), help="[default: loadtest/results/<date>-<commit>]")
def measure(only: tuple[str, ...], quick: bool, repeats: int | None, scale: float | None, out: Path | None) -> None:
    chosen = only or (*STUDIES, *QUESTIONS)
    plan = Plan(repeats or (1 if quick else REPEATS), quick, scale or (QUICK_SCALE if quick else SCALE))
    with exit_on_failure(), awake():
        where = meta.environment()
        folder = out or folders.comparison(where, plan.quick or plan.repeats < REPEATS or plan.scale < SCALE)
        if studies := [name for name in chosen if name in STUDIES]:
            tools.provide("vegeta")
            _measure(studies, plan, folder, meta.environment("vegeta"))
        if questions := [name for name in chosen if name in QUESTIONS]:
            _ask(questions, plan, folder, where)


def _measure(names: list[str], plan: Plan, out: Path, where: Environment) -> None:
    lab = run(names, plan, out / "lab.json", where)
    lab_pictures.write(*lab_documents.read(out))
    measured = [study for study in lab.studies if study.name in names]
    click.echo("\n\n".join([*map(lab_tables.study, measured), str(out / "lab.html")]))


def _ask(names: list[str], plan: Plan, out: Path, where: Environment) -> None:
    found = ask(names, plan, out / "questions.json", where)
    lab_pictures.write(*lab_documents.read(out))
    measured = [answer for answer in found.answers if answer.name in names]
    click.echo("\n\n".join([*map(lab_answers.answer, measured), str(out / "lab.html")]))
