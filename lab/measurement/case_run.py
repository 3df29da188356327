"""Measures studies, and writes lab.json after each study."""

import shlex
import shutil
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from lab.application.filling.fill import fill, steps
from lab.measurement import duets, endpoint
from lab.measurement.beside import Beside, open_beside
from lab.measurement.case import EndpointCase
from lab.measurement.case_record import CaseRepeat, LabResults, Study
from lab.measurement.studies import STUDIES
from loadtest.fire import progress
from loadtest.fire.attempts import undisturbed
from loadtest.record import folders
from loadtest.record.comparison import Environment
from loadtest.record.shapes import Load
from loadtest.stage.file_limits import raise_limit

SCALE, QUICK_SCALE = 0.01, 0.001
QUICK_SECONDS = 1.0
QUICK_USERS = 50
QUICK_MS = "100"


@dataclass(frozen=True)
class Plan:
    """The plan of a run. `quick`: True for a trial run. `scale`: the rows in the database ÷ the study's rows."""

    repeats: int
    quick: bool
    scale: float

    def cases(self, study: str) -> list[EndpointCase]:
        """Returns the study's cases. A trial run has only a few cases, with few users for one second."""
        cases = list(STUDIES[study]())
        return [_quick(case) for case in cases if case.quick] if self.quick else cases

    def shorter(self, load: Load) -> Load:
        return _quick_load(load) if self.quick else load

    def command(self, name: str) -> str:
        """Returns the command that measures the study or question `name` alone."""
        quick = ["--quick"] if self.quick else []
        scale = [] if self.scale == (QUICK_SCALE if self.quick else SCALE) else ["--scale", f"{self.scale:g}"]
        options = [*quick, "--repeats", str(self.repeats), *scale, "--only", name]
        return shlex.join(["python", "-m", "lab", "measure", *options])

    @property
    def groups(self) -> list[duets.Group]:
        return duets.QUICK_GROUPS if self.quick else duets.GROUPS


def _quick(case: EndpointCase) -> EndpointCase:
    query = case.query | ({"ms": QUICK_MS} if "ms" in case.query else {})
    budget = "burst" if case.budget == "capped" else case.budget  # on a quarter of a core, the start takes ten seconds
    return replace(case, load=_quick_load(case.load), query=query, budget=budget)


def _quick_load(load: Load) -> Load:
    return load.model_copy(update={"duration_s": QUICK_SECONDS, "users": min(load.users or 1, QUICK_USERS)})


def run(names: Collection[str], plan: Plan, file: Path, where: Environment) -> LabResults:
    """Measures the studies `names`, and replaces their earlier results in `file`. Returns all results in `file`.

    Raises the errors of `lab.measurement.endpoint.measure` and `lab.measurement.beside.open_beside`, and NotMeasured if
    there is no complete run of `python -m loadtest calibrated`, which the study do_nothing needs.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    chosen = {name: plan.cases(name) for name in STUDIES if name in names}
    lab = LabResults.model_validate_json(file.read_text(encoding="utf-8")) if file.exists() else LabResults(studies=[])
    stored = any(case.database for cases in chosen.values() for case in cases)
    with open_beside(stored) as beside:
        if beside.database is not None:
            _fill(beside.database.url, plan.scale)
        for name, cases in chosen.items():
            rows = _rounds(beside, name, cases, plan.repeats, file)
            if name == "tips":
                rows += duets.measure(beside, plan.groups, plan.repeats, file, plan.shorter)
            scale = plan.scale if any(case.database for case in cases) else None
            command = plan.command(name)
            study = Study(name=name, command=command, environment=where, repeats=plan.repeats, scale=scale, rows=rows)
            lab = LabResults(studies=sorted(lab.replaced(study).studies, key=lambda one: list(STUDIES).index(one.name)))
            file.write_text(lab.model_dump_json() + "\n", encoding="utf-8")
    return lab


def _fill(url: str, scale: float) -> None:
    done = 0
    with progress.count("filling the database", steps(scale)) as show:

        def more(rows: int) -> None:
            nonlocal done
            done += rows
            show(done)

        fill(url, scale, more)


def _rounds(beside: Beside, study: str, cases: list[EndpointCase], repeats: int, file: Path) -> list[CaseRepeat]:
    """Measures every case once in each repeat (interleaved), so that a slow phase of the machine affects all cases."""
    for case in cases:
        raise_limit(case.load)
    rows = []
    with progress.steps(study, repeats * len(cases)) as step:
        for repeat in range(repeats):
            for case in cases:
                name = f"{case.name}, {repeat + 1}/{repeats}"
                step(name)
                rows.append(
                    undisturbed(name, partial(_row, beside, study, case, repeat, file), lambda row: row.measurement)
                )
    return rows


def _row(beside: Beside, study: str, case: EndpointCase, repeat: int, file: Path) -> CaseRepeat:
    raw = folders.raw(file, study, case.name, repeat)
    shutil.rmtree(raw, ignore_errors=True)
    measured = endpoint.measure(beside, case, case.subject, raw)
    return CaseRepeat(
        name=case.name,
        path=case.requested,
        workers=case.workers,
        repeat=repeat,
        measurement=measured.measurement,
        threads=measured.threads,
        cores=measured.cores,
    )
