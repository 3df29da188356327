"""`python -m tests.simulation.webhooks`: searches the webhook's path within a bound."""

import sys
import time

import click

from app.terminal import draws
from tests.simulation.webhooks.bound import Bound
from tests.simulation.webhooks.search import Found, search

_HEAD = "webhooks | on a connection | slots | full calls | faults | specials | runs | steps | seconds | violations"
_EVERY = 500  # runs between two lines of progress


@click.command()
@click.option("--faults", type=click.IntRange(0, 4), default=1, show_default=True, help="Most faults of SQS.")
@click.option(
    "--specials",
    type=click.IntRange(0, 3),
    default=1,
    show_default=True,
    help="Most senders that leave, stop sending or send in parts, and stops of the process.",
)
def main(faults: int, specials: int) -> None:
    """Search every order in which webhooks arrive, SQS answers one or two calls at a time, and time passes.

    A line shows the progress, if standard error is a terminal. The exit code is 1 after a violation.
    """
    click.echo(f"| {_HEAD} |\n" + "|---:" * (1 + _HEAD.count("|")) + "|")
    for bound in _bounds(faults, specials):
        began = time.perf_counter()
        found = search(bound, _show)
        took = time.perf_counter() - began
        if draws(sys.stderr):
            click.echo("\r" + " " * 20 + "\r", nl=False, err=True)
        click.echo(_row(bound, found, took))
        if found.violation is not None:
            click.echo("\n".join(["", found.violation, *found.trace]))
            sys.exit(1)


def _bounds(faults: int, specials: int) -> list[Bound]:
    """Returns the bounds. Three webhooks on long-lived connections get no fault, because the search would be long."""
    long_lived = [Bound(2, faults, specials, webhooks=2, long_lived=True), Bound(2, 0, specials, long_lived=True)]
    full = Bound(1, faults, specials, full=True)
    return [Bound(1, faults, specials), full, Bound(2, faults, specials), *long_lived]


def _row(bound: Bound, found: Found, seconds: float) -> str:
    full = "yes" if bound.full else "no"
    options = f"{bound.webhooks} | {1 + bound.long_lived} | {bound.slots} | {full} | {bound.faults} | {bound.specials}"
    violations = int(found.violation is not None)
    return f"| {options} | {found.runs:,} | {found.steps:,} | {seconds:.0f} | {violations} |"


def _show(found: Found) -> None:
    if draws(sys.stderr) and found.runs % _EVERY == 0:
        click.echo(f"\r{found.runs:,} runs", nl=False, err=True)


if __name__ == "__main__":
    main()
