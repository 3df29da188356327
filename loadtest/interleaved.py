"""Many attacks in one run: every case once, then every case again, so that a slow minute hits them all."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from app.settings import NEWEST
from loadtest.fire import progress
from loadtest.fire.measure import measure
from loadtest.record import folders, meta
from loadtest.record.shapes import Comparison, Environment, Load, Run
from loadtest.stage import subject, toxiproxy
from loadtest.stage.open_files import raise_limit
from loadtest.stage.stack import Stack, open_stack
from loadtest.stage.subject import Subject

# Enough to keep a quarter of a core busy under every release: their latency is theirs, not ours.
USERS = 64
SQS_LATENCY_S = 0.008
WARM_UP = Load(rate=300, duration_s=3, timeout_s=30)


class Case(NamedTuple):
    """`kind` names the attack, as in a table's heading; `once`: too long for every repeat."""

    kind: str
    subject: Subject
    budget: str
    load: Load
    once: bool = False


def environment() -> Environment:
    return meta.environment("vegeta", "toxiproxy-server")


def closed_loop(users: int, duration_s: float) -> Load:
    """Each user sends the next webhook when the last one is answered, as fast as the service lets them."""
    return Load(rate=0, duration_s=duration_s, timeout_s=30, users=users)


def run(title: str, cases: list[Case], repeats: int, file: Path, where: Environment) -> Comparison:
    """Runs them all and writes them into `file`, with raw results beside it; if an audit fails, the run goes on.

    Raises what `loadtest.fire.measure` raises.
    """
    for case in cases:
        raise_limit(case.load)
    subject.say_inherited()
    what = title.partition(":")[0]
    rounds = [(repeat, case) for repeat in range(repeats) for case in cases if repeat == 0 or not case.once]
    runs = []
    with _warm_stack(file) as stack, progress.steps(what, len(rounds)) as step:
        for repeat, case in rounds:
            step(f"{case.subject.name}, {case.kind}, {repeat + 1}/{repeats}")
            raw = folders.raw(file, case.kind, case.subject.name, repeat)
            shutil.rmtree(raw, ignore_errors=True)
            measured = measure(stack, case.subject, case.budget, case.load, out=raw, progress=lambda sent: None)
            runs.append(Run(kind=case.kind, repeat=repeat, measurement=measured))
    arguments = f' ARGS="{" ".join(sys.argv[1:])}"' if sys.argv[1:] else ""
    comparison = Comparison(
        title=title, command=f"make {what}{arguments}", environment=where, repeats=repeats, runs=runs
    )
    file.write_text(comparison.model_dump_json() + "\n")
    return comparison


@contextmanager
def _warm_stack(file: Path) -> Iterator[Stack]:
    """A stack that has compiled what it needs: the first attack on a cold JVM would be about the JVM."""
    with open_stack("auto", [toxiproxy.latency(SQS_LATENCY_S)]) as stack:
        raw = folders.raw(file, "warm-up", NEWEST, 0)
        measure(stack, subject.release(NEWEST), "none", WARM_UP, out=raw, progress=lambda sent: None)
        yield stack


def finish(comparison: Comparison, file: Path, table: str) -> None:
    """Shows it; ends the process with 1 where an audit failed."""
    print(f"{table}\n\n{file}")
    if failed := failed_audits(comparison):
        sys.exit("\n".join(["the audit failed:", *failed]))


def failed_audits(comparison: Comparison) -> list[str]:
    """Whose audit does not hold, a line for each."""
    return [
        f"{run.measurement.name}, {run.kind}, repeat {run.repeat + 1}: {audit.model_dump_json()}"
        for run in comparison.runs
        if (audit := run.measurement.audit) is not None and not audit.holds
    ]
