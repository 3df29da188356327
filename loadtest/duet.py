"""Duets: two subjects at the same time, each in its own quarter of a core, so that a slow machine slows both.

They change cores ten times a second, so that a slow core slows both as well.

Duet benchmarking (Bulej et al., ICPE 2020, https://doi.org/10.1145/3358960.3379132) told differences apart on shared
machines that were 2 to 12 times smaller than those of sequential runs.
"""

import os
import shutil
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Barrier, BrokenBarrierError, Event

import psutil

from loadtest import interleaved
from loadtest.fire import progress
from loadtest.fire.measure import measure
from loadtest.interleaved import AWS, Sqs
from loadtest.record import folders
from loadtest.record.comparison import Comparison, Environment, Run
from loadtest.record.shapes import Load, Measurement
from loadtest.stage import cores, subject
from loadtest.stage.open_files import raise_limit
from loadtest.stage.subject import START_SECONDS, AttackSubject, Running

# Starts a subject, writes its raw results to a folder, and calls the function right before the attack.
Attack = Callable[[AttackSubject, Path, Callable[[Running], object]], Measurement]

AGAIN = "again"  # ends the name of the copy that runs beside its original in an A/A duet
Pair = tuple[AttackSubject, AttackSubject]  # a subject, and the reference beside it
POLL_SECONDS = 0.1


def two_cores() -> tuple[int, int]:
    """Returns the first two cores that this process may use; if there is only one, that one twice."""
    allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0, 1]
    return allowed[0], allowed[1 % len(allowed)]


def pairs(reference: AttackSubject, others: list[AttackSubject]) -> list[Pair]:
    """`reference` beside itself, and every one of `others` beside it."""
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
) -> Comparison:
    """Every pair in every round; each round begins on the other core. `against`: see `Comparison`.

    The runs of one duet have the name of the pair's first subject as their kind. Raises what `loadtest.fire.measure`
    raises.
    """
    raise_limit(load)
    subject.print_inherited()
    with interleaved.stacks(file, sqs, [who for pair in pairs for who in pair]) as stack_of:

        def attack(who: AttackSubject, raw: Path, begin: Callable[[Running], object]) -> Measurement:
            return measure(stack_of(who), who, "capped", load, out=raw, begin=begin)

        what = title.partition(":")[0]
        runs = duets(what, pairs=pairs, repeats=repeats, file=file, attack=attack)
    return interleaved.write(title, runs, repeats, file, where, against=against)


def duets(what: str, *, pairs: list[Pair], repeats: int, file: Path, attack: Attack) -> list[Run]:
    """The rounds of `run`, each measured by `attack`; `what` names the progress bar."""
    rounds = [(repeat, *pair) for repeat in range(repeats) for pair in pairs]
    runs = []
    with progress.steps(what, len(rounds)) as step:
        for repeat, other, reference in rounds:
            step(f"{other.name} beside {reference.name}, {repeat + 1}/{repeats}")
            pair = [replace(who, core=core) for who, core in zip((other, reference), _cores(repeat), strict=True)]
            both = _duet(attack, pair, folders.raw(file, "duet", other.name, repeat))
            runs += [Run(kind=other.name, repeat=repeat, measurement=measured) for measured in both]
    return runs


def _cores(repeat: int) -> tuple[int, int]:
    first, second = two_cores()
    return (first, second) if repeat % 2 == 0 else (second, first)


def _duet(attack: Attack, pair: list[AttackSubject], raw: Path) -> list[Measurement]:
    """Runs both subjects: they start independently, and the attacks begin together."""
    shutil.rmtree(raw, ignore_errors=True)
    together = Barrier(len(pair) + 1, timeout=START_SECONDS)
    pids: dict[str, int] = {}
    ended = Event()

    def play(who: AttackSubject) -> Measurement:
        def begin(running: Running) -> None:
            pids[who.name] = running.pid
            together.wait()

        try:
            return attack(who, raw / who.name, begin)
        except BaseException:
            together.abort()  # or the other one would wait for this one
            raise
        finally:
            ended.set()

    with ThreadPoolExecutor(len(pair)) as both:
        played = [both.submit(play, who) for who in pair]
        try:
            with suppress(BrokenBarrierError):  # then one of them has failed
                together.wait()
                cores.swap(list(pids.values()), two_cores(), ended)
            return _measured(played)
        except BaseException:
            together.abort()
            _end(played)
            raise


def _measured(played: "list[Future[Measurement]]") -> list[Measurement]:
    """Returns what both attacks measured. Raises the error of one that failed, not of one that only waited for it.

    Raises TimeoutError if one subject was ready more than START_SECONDS before the other one.
    """
    wait(played)
    errors = [error for one in played if (error := one.exception()) is not None]
    for error in errors:
        if not isinstance(error, BrokenBarrierError):
            raise error
    if errors:
        raise TimeoutError(f"one subject of a duet was ready more than {START_SECONDS} s before the other one")
    return [one.result() for one in played]


def _end(played: "list[Future[Measurement]]") -> None:
    """Ends attacks that still run (after Ctrl-C) by killing vegeta, and returns when both subjects have stopped."""
    while wait(played, POLL_SECONDS).not_done:
        for child in psutil.Process().children():
            with suppress(psutil.Error):
                if child.name() == "vegeta":
                    child.kill()
