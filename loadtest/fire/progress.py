"""Progress bars, only on a terminal."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from loadtest.record.shapes import Load

_console = Console(stderr=True)


def _bar(*columns: TextColumn | MofNCompleteColumn) -> Progress:
    shown = (TextColumn("{task.description}"), BarColumn(), *columns, TimeElapsedColumn(), TimeRemainingColumn())
    return Progress(*shown, console=_console, disable=not _console.is_terminal, transient=True)


@contextmanager
def attack(name: str, load: Load) -> Iterator[Callable[[int], None]]:
    """A bar for one attack; yields a function to call with the number of webhooks sent."""
    with _bar(TextColumn("{task.fields[sent]:,} webhooks sent")) as bar:
        task = bar.add_task(name, total=load.duration_s, sent=0)
        begun: list[float] = []

        def tick(sent: int) -> None:
            begun.append(time.monotonic()) if not begun else None
            bar.update(task, completed=time.monotonic() - begun[0], sent=sent)

        yield tick


@contextmanager
def steps(what: str, total: int) -> Iterator[Callable[[str], None]]:
    """A bar for many attacks, with the remaining time; yields a function to call with each one's name at its start."""
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
