"""Repeats many attacks in rounds, each case once per round, so that a slow minute affects all cases equally."""

import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import NamedTuple

from app.settings import NEWEST, Release
from loadtest.fire import progress
from loadtest.fire.attack_measurement import measure
from loadtest.fire.attempts import undisturbed
from loadtest.record import folders, meta
from loadtest.record.comparison import Comparison, Environment, Run
from loadtest.record.shapes import Load, Measurement
from loadtest.stage import subject, tools, toxiproxy
from loadtest.stage.billing_stage import BillingStack, open_billing
from loadtest.stage.file_limits import raise_limit
from loadtest.stage.stack import Stack, open_stack
from loadtest.stage.subject import AttackSubject

TOOLS = ("vegeta", "toxiproxy-server")
# Enough users to keep a quarter of a core busy under every release except v01, which mostly waits for Chargebee.
USERS = 64
SQS_LATENCY_S = 0.008
WARM_UP = Load(rate=300, duration_s=3, timeout_s=30)


class Sqs(NamedTuple):
    """The queue of a run: its added latency in seconds, and the CA bundle that clients load (see `open_stack`)."""

    latency_s: float = SQS_LATENCY_S
    bundle: str = "full"


AWS = Sqs()


class Case(NamedTuple):
    """A subject and its attack. `kind`: the attack's name in tables.

    `once`: the case runs only in the first round, because it takes long.
    """

    kind: str
    subject: AttackSubject
    budget: str
    load: Load
    once: bool = False


def environment() -> Environment:
    """Builds vegeta and toxiproxy if they are missing. Returns the environment of a measurement that uses them.

    Raises ConfigurationError if vegeta or toxiproxy cannot be built.
    """
    tools.provide(*TOOLS)
    return meta.environment(*TOOLS)


def closed_loop(users: int, duration_s: float) -> Load:
    """Returns a load in which each user sends the next webhook after the response to the previous webhook."""
    return Load(rate=0, duration_s=duration_s, timeout_s=30, users=users)


def run(
    title: str, cases: list[Case], repeats: int, file: Path, where: Environment, *, sqs: Sqs = AWS, factor: float = 1
) -> Comparison:
    """Runs each case `repeats` times, or once (see `Case`). Writes the comparison to `file`, and raw results beside it.

    Continues after a failed audit. Repeats an attack that another virtual machine has disturbed.

    Raises the errors of `loadtest.fire.attack_measurement` and of `loadtest.stage.stack`.
    """
    for case in cases:
        raise_limit(case.load)
    subject.print_inherited()
    what = title.partition(":")[0]
    rounds = [(repeat, case) for repeat in range(repeats) for case in cases if repeat == 0 or not case.once]
    runs = []
    with stacks(file, sqs, [case.subject for case in cases]) as stack_of, progress.steps(what, len(rounds)) as step:
        for repeat, case in rounds:
            name = f"{case.subject.name}, {case.kind}, {repeat + 1}/{repeats}"
            step(name)
            raw = folders.raw(file, case.kind, case.subject.name, repeat)
            measured = undisturbed(name, partial(_attack, stack_of(case.subject), case, raw), lambda made: made)
            runs.append(Run(kind=case.kind, repeat=repeat, measurement=measured))
    return write(title, runs, repeats, file, where, factor=factor)


def _attack(stack: Stack | BillingStack, case: Case, raw: Path) -> Measurement:
    shutil.rmtree(raw, ignore_errors=True)
    return measure(stack, case.subject, case.budget, case.load, out=raw)


@contextmanager
def stacks(
    file: Path, sqs: Sqs, subjects: list[AttackSubject]
) -> Iterator[Callable[[AttackSubject], Stack | BillingStack]]:
    """Yields a function that returns a subject's stack: a queue, or for v01 a table and Chargebee's stand-in.

    A warm-up attack has already used the queue.
    """
    inline = any(map(_is_inline, subjects))
    with warm_stack(file, sqs) as stack, open_billing() if inline else nullcontext() as billing:
        yield lambda subject: billing if billing is not None and _is_inline(subject) else stack


def _is_inline(subject: AttackSubject) -> bool:
    return subject.release == Release.V01_INLINE


def called(*option: str) -> str:
    """Returns the command line that repeats this run: `NAME=value … python -m loadtest NAME …`.

    The line begins with the variables that a release inherits. `option`: an option and its value, which are added if
    the command line does not have the option.
    """
    given = any(argument.partition("=")[0] == option[0] for argument in sys.argv) if option else False
    return shlex.join([*subject.used(), "python", "-m", "loadtest", *sys.argv[1:], *(() if given else option)])


def write(
    title: str,
    runs: list[Run],
    repeats: int,
    file: Path,
    where: Environment,
    *,
    factor: float = 1,
    against: str | None = None,
) -> Comparison:
    """Writes the comparison, with the command that repeats the run, to `file`. Returns the comparison."""
    comparison = Comparison(
        title=title,
        command=called(),
        environment=where,
        repeats=repeats,
        runs=runs,
        factor=factor,
        against=against,
    )
    file.write_text(comparison.model_dump_json() + "\n", encoding="utf-8")
    return comparison


@contextmanager
def warm_stack(file: Path, sqs: Sqs = AWS) -> Iterator[Stack]:
    """Yields a queue (a `Stack`) after a warm-up attack, so that no measured attack is the first on new processes."""
    with open_stack("auto", [toxiproxy.latency(sqs.latency_s)], bundle=sqs.bundle) as stack:
        raw = folders.raw(file, "warm-up", NEWEST, 0)
        measure(stack, subject.release(NEWEST), "none", WARM_UP, out=raw)
        yield stack
