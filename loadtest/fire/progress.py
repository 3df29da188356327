"""Progress bars, which are shown only on a terminal."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich import progress as rich
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from loadtest.record.shapes import Load

_console = Console(stderr=True)
Count = Callable[[int], None]


def _bar(*columns: ProgressColumn) -> rich.Progress:
    shown = (TextColumn("{task.description}"), BarColumn(), *columns, TimeElapsedColumn())
    return rich.Progress(*shown, console=_console, disable=not _console.is_terminal, transient=True)


class Progress:
    """Receives the progress of one attack. This class ignores the progress; a subclass shows it."""

    def phase(self, what: str) -> None:
        """Reports that a phase begins. `what`: its name, such as "sending"."""

    def sent(self, webhooks: int) -> None:
        """Reports how many webhooks have been sent so far."""


SILENT = Progress()


class _Shown(Progress):
    """Shows the progress as a bar. The bar has an end only in the phase "sending", whose duration is known."""

    def __init__(self, bar: rich.Progress, name: str, load: Load) -> None:
        self._bar, self._name, self._load = bar, name, load
        self._task = bar.add_task(name, total=None, sent=0)
        self._began: float | None = None

    def phase(self, what: str) -> None:
        self._bar.update(self._task, description=f"{self._name}: {what}", total=None)
        self._began = None

    def sent(self, webhooks: int) -> None:
        self._began = self._began or time.monotonic()
        seconds = time.monotonic() - self._began
        self._bar.update(self._task, total=self._load.duration_s, completed=seconds, sent=webhooks)


@contextmanager
def attack(name: str, load: Load) -> Iterator[Progress]:
    """Shows a bar for one attack. Yields the object that receives the attack's progress."""
    with _bar(TextColumn("{task.fields[sent]:,} webhooks sent"), TimeRemainingColumn()) as bar:
        yield _Shown(bar, name, load)


@contextmanager
def steps(what: str, total: int) -> Iterator[Callable[[str], None]]:
    """Shows a bar for many attacks. Yields a function: call it at each attack's start, with the attack's name.

    The bar shows no remaining time, because it would be wrong: attacks on slow releases take longer.
    """
    with _bar(MofNCompleteColumn()) as bar:
        task = bar.add_task(what, total=total)
        done = 0

        def step(name: str) -> None:
            nonlocal done
            bar.update(task, description=f"{what}: {name}", completed=done)
            if bar.disable:
                _console.print(f"[{done + 1}/{total}] {name}", highlight=False, markup=False)
            done += 1

        yield step


@contextmanager
def count(what: str, total: int) -> Iterator[Count]:
    """Shows a bar for work that the caller counts. Yields a function: call it with the amount that is done so far."""
    with _bar(MofNCompleteColumn(), TimeRemainingColumn()) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)
