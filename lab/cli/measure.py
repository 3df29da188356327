"""The published sync/async experiments, measured on the lab.

Each endpoint in a closed loop, repeats interleaved; the appendix and the tips on a quarter of a core, the others with
all that the machine has beside the load generator, a slow upstream and Postgres. Writes lab.json, lab.html and the
pictures to loadtest/results/<date>-<commit>, and the studies named by --only in place of those that are there. A full
run takes more than an hour.
"""

from pathlib import Path

import click

from lab.measurement.run import Plan, run
from lab.measurement.studies import STUDIES
from lab.report import page, pictures, tables
from loadtest.failures import exit_on_failure
from loadtest.record import folders, meta
from loadtest.stage import tools

SCALE, QUICK_SCALE = 0.01, 0.001


@click.command(help=__doc__)
@click.option("--only", multiple=True, type=click.Choice(list(STUDIES)), help="Only this study (repeatable).")
@click.option("--quick", is_flag=True, help="A trial run: few cases, a second and 50 users each, once.")
@click.option("--repeats", type=click.IntRange(1, 50), help="[default: 3; with --quick 1]")
@click.option("--scale", type=click.FloatRange(0.001, 1), help="Of the database. [default: 0.01; with --quick 0.001]")
@click.option("--out", type=click.Path(path_type=Path), help="[default: loadtest/results/<date>-<commit>]")
def measure(only: tuple[str, ...], quick: bool, repeats: int | None, scale: float | None, out: Path | None) -> None:
    with exit_on_failure():
        tools.provide("vegeta")
        where = meta.environment("vegeta")
        out = out or folders.comparison(where, quick)
        plan = Plan(repeats or (1 if quick else 3), quick, scale or (QUICK_SCALE if quick else SCALE))
        chosen = only or tuple(STUDIES)
        lab = run(chosen, plan, out / "lab.json", where)
        page.write(lab, out)
        pictures.write(lab, out)
        measured = [study for study in lab.studies if study.name in chosen]
        click.echo("\n\n".join([*map(tables.study, measured), str(out / "lab.html")]))
