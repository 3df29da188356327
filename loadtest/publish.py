"""Measures the parts that documents quote, except parts that are already measured.

A part is a command. Its result is in loadtest/results/<date>-<commit>. The commit is the last one that changed the
measured code, so you may commit results, pictures and tests at any time, and call `publish` again after an
interruption. A part is DOUBTFUL if there is a reason to doubt its figures, such as other work on the machine. It is
then measured again, up to three times in total. A part of --only is measured even if it has a result. With --quick,
each part is a short trial run, which no document uses; parts that draw pictures have no trial run.
"""

import re
import sys
import time
from datetime import UTC, datetime, timedelta

import click

from app.errors import ConfigurationError
from loadtest.failures import exit_on_failure
from loadtest.record import folders, index, meta
from loadtest.record.comparison import Environment
from loadtest.record.index import Entry, Index
from loadtest.record.parts import NAMES, PARTS, Part
from loadtest.record.shapes import Record
from loadtest.stage import commands
from local.machine import Watch

ATTEMPTS = 3
LOOK_SECONDS = 5
DOUBTFUL = "DOUBTFUL"


class Drawn(Record):
    """The record of a part that draws pictures and has no other result."""

    environment: Environment
    command: str
    doubts: list[str]


@click.command(help=__doc__)
@click.option("--quick", is_flag=True, help="A trial run of each part that has one, once.")
@click.option("--only", multiple=True, metavar="PART", type=click.Choice(NAMES), help="Only this part (repeatable).")
@click.option("--list", "listed", is_flag=True, help="Show what is measured, what is left, and how long it takes.")
def main(quick: bool, only: tuple[str, ...], listed: bool) -> None:
    with exit_on_failure():
        commit = meta.commit()
        parts = [part.shortened() for part in PARTS if part.trial] if quick else PARTS
        chosen = [part for part in parts if part.name in (only or NAMES)]
        found = index.scan(trial=quick)
        left = [part for part in chosen if only or not _done(part, found, commit, quick)]
        click.echo(_table(chosen, left, found, commit))
        if listed:
            return
        _require(commit, idle=not quick)
        failed = [line for number, part in enumerate(left) for line in _measure(part, left[number:], quick)]
    if failed:
        sys.exit("\n".join(failed))


def _require(commit: str, *, idle: bool) -> None:
    """Raises ConfigurationError if code is not committed, or if `idle` is true and the machine is busy."""
    if f"-{commit}".endswith(folders.UNPUBLISHED):
        raise ConfigurationError(f"the code is not committed ({commit}): figures of it could not be repeated")
    with Watch() as watch:
        time.sleep(LOOK_SECONDS if idle else 0)
    if idle and (doubts := watch.busy.doubts()):
        raise ConfigurationError(f"this machine is busy, so each part would be {DOUBTFUL}: {'; '.join(doubts)}")


def _done(part: Part, found: Index, commit: str, quick: bool) -> bool:
    entry = found.parts.get(part.name)
    return entry is not None and entry.environment.commit == commit and (quick or not entry.doubts)


def _table(parts: list[Part], left: list[Part], found: Index, commit: str) -> str:
    """Returns a line for each part, and a line with the total time of the parts in `left`."""
    lines = [f"{part.name:<18} {_minutes(part, found):>4} min  {_state(part, left, found, commit)}" for part in parts]
    machine = meta.environment().machine
    here = f"Python {machine['python']}, OpenSSL {machine['openssl']}, {machine['system']}"
    return "\n".join(
        [
            *lines,
            f"{len(left)} of {len(parts)} parts are left on {commit}, about {_total(left, found)} (h:min:s).",
            f"Measured is {here}; deployed is the image {_image()}.",
        ]
    )


def _image() -> str:
    """Returns the name of the Python image on which the deployed image is based."""
    [image, *_] = re.findall(r"^FROM (\S+)", (folders.ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    return str(image)


def _state(part: Part, left: list[Part], found: Index, commit: str) -> str:
    entry = found.parts.get(part.name)
    if entry is None or entry.environment.commit != commit:
        return "not measured" if entry is None else f"measured on {entry.environment.commit}"
    marks = [*([DOUBTFUL] if entry.doubts else []), *(["another machine"] if entry.hardware != found.hardware else [])]
    return ", ".join(["again" if part in left else "done", *marks])


def _minutes(part: Part, found: Index) -> int:
    entry = found.parts.get(part.name)
    return part.minutes if entry is None or entry.seconds is None else max(1, round(entry.seconds / 60))


def _total(parts: list[Part], found: Index) -> timedelta:
    return timedelta(minutes=sum(_minutes(part, found) for part in parts))


def _measure(part: Part, left: list[Part], quick: bool) -> list[str]:
    """Measures a part, and again if it is DOUBTFUL. Returns a line if it fails or stays DOUBTFUL, or no line."""
    for attempt in range(1, 2 if quick else ATTEMPTS + 1):
        now = datetime.now(UTC)
        rest = _total(left, index.scan(trial=quick))
        click.echo(f"{now:%H:%M} {part.name}: {part.typed} (attempt {attempt}; {len(left)} parts left, {rest})")
        code, entry = _run(part, quick)
        if code != 0 or entry is None:
            return [f"{part.name}: {part.typed} failed with exit code {code}"]
        click.echo(f"{part.name}: {entry.seconds:,.0f} s{'' if quick else f'; git add {_paths(part, entry)}'}")
        if quick or not (doubts := entry.doubts):
            return []
    return [f"{part.name}: {DOUBTFUL} after {ATTEMPTS} attempts: {doubts[0]}"]


def _run(part: Part, quick: bool) -> tuple[int, Entry | None]:
    """Runs the part's command, and adds its result to the index. Returns the exit code, and the part's new entry.

    The entry is None if the command has written no result.
    """
    where, began = meta.environment(), time.monotonic()
    code, lines = commands.run(part.command)
    seconds = time.monotonic() - began
    if part.draws and code == 0:
        drawn = Drawn(environment=where, command=part.typed, doubts=[line for line in lines if DOUBTFUL in line])
        folders.write(folders.comparison(where) / f"{part.name}.json", drawn)
    found = index.scan(trial=quick)
    entry = found.parts.get(part.name)
    if entry is None or entry.environment.started < where.started:
        return code, None
    found.parts[part.name] = entry = entry.model_copy(update={"seconds": round(seconds, 1)})
    if not quick:
        index.write(found)
    return code, entry


def _paths(part: Part, entry: Entry) -> str:
    return f"loadtest/results/{entry.folder} loadtest/results/index.json{' profiles' if part.draws else ''}"
