"""`python -m tests.simulation.connections`: searches the states of one connection within a bound."""

import multiprocessing
import signal
import sys
import time
from multiprocessing.pool import Pool

import click
from loguru import logger

from app.terminal import draws
from tests.simulation.connections.plan import WHOLE, Part
from tests.simulation.connections.search import Found, search

_HEAD = "requests | cuts | events | orders | runs | seconds | violations"


@click.command()
def main() -> None:
    """Search every order of segments and events on one connection, with each of the server's two handlers.

    A line shows the progress, if standard error is a terminal. The exit code is 1 after a violation.
    Ctrl-C ends all processes.
    """
    click.echo(f"| {_HEAD} |\n|---" + "|---:" * _HEAD.count("|") + "|")
    whole = Found()
    with multiprocessing.Pool(initializer=_prepare) as pool:
        for part in WHOLE:
            began = time.perf_counter()
            found = _searched(part, pool)
            click.echo(_row(part, found, time.perf_counter() - began))
            whole.merge(found)
    for violation, (number, order) in whole.violations.items():
        click.echo(f"\n{violation} ({number:,} times), for example with {', '.join(order.requests)}:\n{order}")
    sys.exit(bool(whole.violations))


def _prepare() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # after Ctrl-C, the parent ends its pool
    logger.remove()


def _searched(part: Part, pool: Pool) -> Found:
    found = Found()
    for one in pool.imap_unordered(_search_part, [part._replace(requests=[one]) for one in part.requests]):
        found.merge(one)
        if draws(sys.stderr):
            click.echo(f"\r{found.runs:,} runs\r", nl=False, err=True)
    return found


def _search_part(part: Part) -> Found:
    return search(part.orders())


def _row(part: Part, found: Found, seconds: float) -> str:
    violations = sum(number for number, _ in found.violations.values())
    bound = f"{part.bound.cuts} | {part.bound.events}"
    return f"| {part.what} | {bound} | {found.orders:,} | {found.runs:,} | {seconds:.0f} | {violations:,} |"


if __name__ == "__main__":
    main()
