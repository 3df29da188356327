"""Attacks two subjects at the same time, each on one core. The subjects exchange their cores ten times a second."""

import os
import shutil
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from threading import Barrier, BrokenBarrierError, Event

import psutil

from loadtest.record.shapes import Measurement
from loadtest.stage import cores
from loadtest.stage.subject import START_SECONDS, AttackSubject, Running

# A function that attacks a subject, writes raw results to the folder, and calls its third argument before the attack.
Attack = Callable[[AttackSubject, Path, Callable[[Running], object]], Measurement]
POLL_SECONDS = 0.1


def two_cores() -> tuple[int, int]:
    """Returns the first two cores that this process may use. If there is only one core, returns it twice."""
    allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0, 1]
    return allowed[0], allowed[1 % len(allowed)]


def cores_of(repeat: int) -> tuple[int, int]:
    """Returns the core on which each of the two subjects begins. The cores are exchanged in every second repeat."""
    first, second = two_cores()
    return (first, second) if repeat % 2 == 0 else (second, first)


def together(attack: Attack, pair: list[AttackSubject], raw: Path) -> list[Measurement]:
    """Returns the measurements of both subjects. The attacks begin when both subjects are ready."""
    shutil.rmtree(raw, ignore_errors=True)
    begun = Barrier(len(pair) + 1, timeout=START_SECONDS)
    pids: dict[str, int] = {}
    ended = Event()

    def play(who: AttackSubject) -> Measurement:
        def begin(running: Running) -> None:
            pids[who.name] = running.pid
            begun.wait()

        try:
            return attack(who, raw / who.name, begin)
        except BaseException:
            begun.abort()  # otherwise, the other attack would wait for this one
            raise
        finally:
            ended.set()

    with ThreadPoolExecutor(len(pair)) as both:
        played = [both.submit(play, who) for who in pair]
        try:
            with suppress(BrokenBarrierError):  # one of the attacks has failed
                begun.wait()
                cores.swap(list(pids.values()), two_cores(), ended)
            return _measured(played)
        except BaseException:
            begun.abort()
            _end(played)
            raise


def _measured(played: "list[Future[Measurement]]") -> list[Measurement]:
    """Returns the measurements of both attacks. If an attack has failed, raises its error.

    If one attack fails while the other waits for it, the other ends with BrokenBarrierError, which is ignored here.
    Raises TimeoutError if one subject was ready more than START_SECONDS before the other subject.
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
    """Ends both attacks: kills each vegeta process until no attack is running. Used after Ctrl-C, for example."""
    while wait(played, POLL_SECONDS).not_done:
        for child in psutil.Process().children():
            with suppress(psutil.Error):
                if child.name() == "vegeta":
                    child.kill()
