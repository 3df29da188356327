"""Counts the CPU instructions per webhook with callgrind, for v09 and later releases and for the floor.

The floor is uvicorn alone. Each subject runs in one process, without sockets. Unlike CPU time, a count repeats within
1 % even on a busy machine. A count leaves out the kernel, TLS and SHA-256, so ratios of counts differ from the ratios
of `bench`. With --check, exits with 1 if a count is more than 3 % over the budget in loadtest/instructions.json. Each
version of Python, such as 3.11.2, has its own budget, because even the counts of two builds of 3.11 differ by 9 %.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import click

from app.errors import ConfigurationError
from app.settings import Release
from loadtest.failures import exit_on_failure
from loadtest.fire import progress
from loadtest.record.folders import ROOT
from loadtest.stage import callgrind
from loadtest.stage.in_process import FLOOR
from loadtest.stage.stack import variables

SUBJECTS = (FLOOR, *(release.value for release in Release if release >= Release.V09_GROUP_COMMIT))
BUDGETS = ROOT / "loadtest" / "instructions.json"
TOLERANCE = 0.03
VERSION = platform.python_version()
QUEUE_URL = "http://127.0.0.1:9/000000000000/webhooks"
SECONDS = 600  # time limit for one subject, long enough for slow machines
Budgets = dict[str, dict[str, int]]


class Count(NamedTuple):
    """A subject's count. `instructions`: per webhook. `batch`: webhooks per call to SQS, or None for the floor."""

    instructions: int
    batch: float | None


@click.command(help=__doc__)
@click.option("--only", multiple=True, help="Only this subject: v10, asgi_noop, … (repeatable).")
@click.option("--webhooks", type=click.IntRange(100, 10_000), default=500, show_default=True, help="To count.")
@click.option("--check", is_flag=True, help="Exit with 1 if a count is over its budget.")
@click.option("--write", is_flag=True, help="Make these counts the budget of this Python.")
def main(only: tuple[str, ...], webhooks: int, check: bool, write: bool) -> None:
    subjects = [name for name in SUBJECTS if not only or name.startswith(only)]
    with exit_on_failure():
        if not subjects:
            raise ConfigurationError(f"--only={','.join(only)}: allowed is {', '.join(SUBJECTS)}")
        budgets: Budgets = json.loads(BUDGETS.read_text(encoding="utf-8"))
        budget = budgets.get(VERSION)
        if check and budget is None:
            click.echo(f"no budget for Python {VERSION}: not checked (loadtest/instructions.json has {list(budgets)})")
            return
        counts = count_all(subjects, webhooks)
    click.echo(table(counts, budget or {}))
    if write:
        budgets[VERSION] = (budget or {}) | {name: count.instructions for name, count in counts.items()}
        BUDGETS.write_text(json.dumps(budgets, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    if check and (over := exceeded(counts, budget or {})):
        sys.exit("\n".join(over))


def count_all(subjects: list[str], webhooks: int) -> dict[str, Count]:
    """Counts the instructions of the subjects, several at a time, because other work does not change a count.

    Raises ConfigurationError if callgrind is missing, and ChildProcessError if a subject fails.
    """
    callgrind.require_callgrind()
    counts = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        progress.steps("instructions", len(subjects)) as step,
        ThreadPoolExecutor(os.cpu_count()) as threads,
    ):
        counting = {name: threads.submit(count, name, webhooks, Path(folder)) for name in subjects}
        try:
            for name, counted in counting.items():
                step(name)
                counts[name] = counted.result()
        finally:  # after Ctrl-C or a failure, no further subject starts
            threads.shutdown(cancel_futures=True)
    return counts


def count(subject: str, webhooks: int, folder: Path) -> Count:
    """Counts the instructions of one subject in a new process. callgrind writes its result into `folder`.

    Raises ChildProcessError if the process fails, and ValueError if callgrind has counted nothing.
    """
    counted = [sys.executable, "-m", "loadtest.stage.in_process", subject, str(webhooks)]
    out = folder / subject
    try:
        ended = subprocess.run(
            callgrind.command(counted, out),
            cwd=ROOT,
            env=environment(subject, folder),
            capture_output=True,
            encoding="utf-8",
            check=True,
            timeout=SECONDS,
        )
    except subprocess.CalledProcessError as error:
        raise ChildProcessError(f"{subject} failed under callgrind:\n{error.stderr.strip()[-2000:]}") from None
    except subprocess.TimeoutExpired:
        raise ChildProcessError(f"{subject} took more than {SECONDS} s under callgrind") from None
    done = json.loads(ended.stdout)
    batch = done["webhooks"] / done["calls"] if done["calls"] else None
    return Count(round(callgrind.instructions(out) / done["webhooks"]), batch)


def environment(subject: str, home: Path) -> dict[str, str]:
    """Returns a subject's environment. It inherits only PATH: more variables would move the stack and change counts."""
    return variables(QUEUE_URL.rpartition("/000000000000")[0], None, QUEUE_URL) | {
        "APP_MAX_WAIT": "300",  # under callgrind, everything takes fifty times as long
        "APP_SQS_TIMEOUT": "60",
        "APP_PORT": "0",
        "APP_RELEASE": "" if subject == FLOOR else subject,
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "PYTHONHASHSEED": "0",
    }


def table(counts: dict[str, Count], budget: dict[str, int]) -> str:
    """Returns a table: each count, its ratio to the floor's, webhooks per call to SQS, and the share of the budget."""
    floor = counts.get(FLOOR)
    rows = [f"{'per webhook':<18} {'instructions':>12} {'÷ floor':>8} {'a call':>7} {'of budget':>9}"]
    for name, (instructions, batch) in counts.items():
        ratio = f"{instructions / floor.instructions:.2f}" if floor else "–"
        share = f"{instructions / budget[name]:.1%}" if name in budget else "–"
        rows.append(f"{name:<18} {instructions:>12,} {ratio:>8} {f'{batch:.1f}' if batch else '–':>7} {share:>9}")
    return "\n".join(rows)


def exceeded(counts: dict[str, Count], budget: dict[str, int]) -> list[str]:
    """Returns a line for each count that is over its budget by more than TOLERANCE, or that has no budget."""
    lines = []
    for name, (instructions, _) in counts.items():
        allowed = budget.get(name)
        if allowed is None:
            lines.append(f"{name}: no budget; set it with python -m loadtest instructions --write")
        elif instructions > allowed * (1 + TOLERANCE):
            lines.append(
                f"{name}: {instructions:,} instructions per webhook are {instructions / allowed - 1:.1%} over the"
                f" budget of {allowed:,}; allowed are {TOLERANCE:.0%}"
            )
    return lines
