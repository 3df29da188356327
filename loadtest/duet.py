"""Measures duets: two subjects (such as releases) run at the same time, so that a slow machine slows both.

Each subject has its own quarter of a core. The subjects exchange their cores ten times a second, so that a slow core
also slows both.

On shared machines, duet benchmarking (Bulej et al., ICPE 2020, https://doi.org/10.1145/3358960.3379132) detected
differences that were 2 to 12 times smaller than the differences that sequential runs detected.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from loadtest import interleaved
from loadtest.fire import progress
from loadtest.fire.attack_measurement import measure
from loadtest.fire.attempts import undisturbed
from loadtest.interleaved import AWS, Sqs
from loadtest.record import folders
from loadtest.record.comparison import Comparison, Environment, Run
from loadtest.record.shapes import Load, Measurement
from loadtest.stage import subject
from loadtest.stage.file_limits import raise_limit
from loadtest.stage.subject import AttackSubject, Running
from loadtest.together import Attack, cores_of, together

AGAIN = "again"  # in a duet of a subject with its copy, the copy's name ends with this word
Pair = tuple[AttackSubject, AttackSubject]  # a subject, and the reference that runs at the same time
# A function that gets a pair's runs so far, and returns True if they are enough.
Enough = Callable[[list[Run]], bool]


def pairs(reference: AttackSubject, others: list[AttackSubject]) -> list[Pair]:
    """Pairs `reference` with a copy of itself, and with each of `others`. `reference` is second in each pair."""
    again = replace(reference, name=f"{reference.name} {AGAIN}")
    return [(other, reference) for other in (again, *others)]


def run(
    title: str,
    *,
    pairs: list[Pair],
    load: Load,
    repeats: int,
    file: Path,
    where: Environment,
    sqs: Sqs = AWS,
    against: str | None = None,
    enough: Enough = lambda runs: False,
) -> Comparison:
    """Measures each pair once in each of `repeats` rounds, until `enough` returns True for the pair's runs.

    The core on which a subject begins changes from round to round. `against`: see `Comparison`. The `kind` of a
    duet's runs is the name of the pair's first subject. Raises the errors of `loadtest.fire.attack_measurement`.
    """
    raise_limit(load)
    subject.print_inherited()
    with interleaved.stacks(file, sqs, [who for pair in pairs for who in pair]) as stack_of:

        def attack(who: AttackSubject, raw: Path, begin: Callable[[Running], object]) -> Measurement:
            return measure(stack_of(who), who, "capped", load, out=raw, begin=begin)

        what = title.partition(":")[0]
        runs = duets(what, pairs=pairs, repeats=repeats, file=file, attack=attack, enough=enough)
    return interleaved.write(title, runs, repeats, file, where, against=against)


def duets(
    what: str,
    *,
    pairs: list[Pair],
    repeats: int,
    file: Path,
    attack: Attack,
    enough: Enough = lambda runs: False,
) -> list[Run]:
    """Measures the pairs in rounds, as `run` does. Calls `attack` to measure one subject of a pair.

    Repeats a duet if another virtual machine has disturbed it. `what`: the name of the progress bar.
    """
    rounds = [(repeat, *pair) for repeat in range(repeats) for pair in pairs]
    runs: list[Run] = []
    with progress.steps(what, len(rounds)) as step:
        for repeat, other, reference in rounds:
            name = f"{other.name} beside {reference.name}, {repeat + 1}/{repeats}"
            step(name)
            if enough([run for run in runs if run.kind == other.name]):
                continue
            pair = [replace(who, core=core) for who, core in zip((other, reference), cores_of(repeat), strict=True)]
            raw = folders.raw(file, "duet", other.name, repeat)
            both = undisturbed(name, partial(together, attack, pair, raw), _worse)
            runs += [Run(kind=other.name, repeat=repeat, measurement=measured) for measured in both]
    return runs


def _worse(both: list[Measurement]) -> Measurement:
    """Returns the worse measurement: one with a failed audit, or else one with doubts, or else the first of `both`."""
    lost = [one for one in both if one.audit is not None and not one.audit.holds]
    doubtful = [one for one in both if one.conditions is not None and one.conditions.doubts]
    return [*lost, *doubtful, *both][0]
