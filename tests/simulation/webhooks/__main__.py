"""`python -m tests.simulation.webhooks`: searches the webhook's path within a bound."""

import sys
import time

import click

from tests.simulation.webhooks.search import Bound, Found, search

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
    """Search every order in which three webhooks arrive, SQS answers one or two calls at a time, and time passes.

    A line shows the progress, if standard error is a terminal. The exit code is 1 after a violation.
    """
    click.echo("| calls at a time | faults | specials | runs | steps | seconds | violations |\n" + "|---:" * 7 + "|")
    for slots in (1, 2):
        began = time.perf_counter()
        found = search(Bound(slots, faults, specials), _show)
        took = time.perf_counter() - began
        if sys.stderr.isatty():
            click.echo("\r" + " " * 20 + "\r", nl=False, err=True)
        figures = f"{slots} | {faults} | {specials} | {found.runs:,} | {found.steps:,} | {took:.0f}"
        click.echo(f"| {figures} | {int(found.violation is not None)} |")
        if found.violation is not None:
            click.echo("\n".join(["", found.violation, *found.trace]))
            sys.exit(1)


def _show(found: Found) -> None:
    if sys.stderr.isatty() and found.runs % _EVERY == 0:
        click.echo(f"\r{found.runs:,} runs", nl=False, err=True)


if __name__ == "__main__":
    main()
