"""The commands `python -m lab setup` and `python -m lab postgres`, and the option `--postgres` of `python -m lab`."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from app.errors import ConfigurationError
from app.terminal import is_dumb
from lab.lab_settings import load_lab_settings

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar

VARIABLE = "APP_LAB_DATABASE_URL"
SCALE = 0.01
scale_option = click.option(
    "--scale",
    type=click.FloatRange(0.0001, 10),
    default=SCALE,
    show_default=True,
    help="Of the study's rows: 1 million users, 100,000 products, 5 million orders, 10 million items.",
)


@click.command()
@scale_option
def setup(scale: float) -> None:
    """Fill the database of APP_LAB_DATABASE_URL with the study's rows.

    A run that is killed leaves no rows. The command changes nothing if the database has all rows already. It fails, and
    changes nothing, if another program has created tables with the study's names. Scale 1 takes some two minutes and
    2 GB.
    """
    url = load_lab_settings().database_url
    if url is None:
        raise ConfigurationError(
            f"{VARIABLE} is not set: allowed is a postgresql URL (`python -m lab postgres` starts a Postgres)"
        )
    if _fill(url.get_secret_value(), scale):
        click.echo(f"Filled at scale {scale:g}", err=True)
    else:
        click.echo(f"It is full already, at scale {scale:g}: nothing to do", err=True)


@click.command()
@scale_option
def postgres(scale: float) -> None:
    """Run a throw-away Postgres with the study's rows until Ctrl-C, and print how to use it."""
    _refuse_another()
    with ctrl_c(), _filled(scale) as url:
        click.echo(f"export {VARIABLE}={url}")
        click.echo("Ctrl-C ends it, and removes its files", err=True)
        signal.pause()


def check_options(context: click.Context) -> None:
    """Checks the options of the command group. Raises UsageError if an option has no effect."""
    scaled = context.get_parameter_source("scale") is ParameterSource.COMMANDLINE
    if scaled and not context.params["postgres"]:
        raise click.UsageError("--scale is for --postgres; the subcommands have their own")
    if context.params["postgres"] and context.invoked_subcommand is not None:
        raise click.UsageError(f"--postgres is not for {context.invoked_subcommand}")


@contextmanager
def throw_away_postgres(scale: float) -> Iterator[None]:
    """Runs a Postgres with the study's rows until the context ends. Sets APP_LAB_DATABASE_URL to the Postgres' URL."""
    _refuse_another()
    with _filled(scale) as url:
        os.environ[VARIABLE] = url
        try:
            yield
        finally:
            del os.environ[VARIABLE]


@contextmanager
def _filled(scale: float) -> Iterator[str]:
    from lab.stand_ins.postgres import start  # imported only if the command starts a Postgres

    click.echo("Starting Postgres", err=True)
    with start() as running:
        _fill(running.url, scale)
        yield running.url


def _fill(url: str, scale: float) -> bool:
    """Fills the database and shows the progress. Returns False if the database had all rows already.

    Raises the errors of `fill`, and ConfigurationError if the lab's packages are not installed.
    """
    try:
        from lab.application.filling.fill import fill, steps  # so that `python -m lab --help` works without psycopg
    except ImportError:
        raise ConfigurationError("the lab's packages are not installed: `make .venv/dev` does") from None
    with ExitStack() as stack:

        @cache  # not drawn before the first progress, so that an earlier error has a line of its own
        def bar() -> "ProgressBar[int]":
            shown = click.progressbar(
                length=steps(scale), label="Rows and indexes", file=sys.stderr, hidden=is_dumb(sys.stderr)
            )
            return stack.enter_context(shown)

        return fill(url, scale, lambda done: bar().update(done))


def _refuse_another() -> None:
    if os.environ.get(VARIABLE):
        raise ConfigurationError(f"{VARIABLE}=(hidden): not allowed with a throw-away Postgres, which has its own URL")


@contextmanager
def ctrl_c() -> Iterator[None]:
    """Treats SIGTERM and SIGHUP like Ctrl-C. Any of the three ends the `with` block without an error."""
    for sig in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(sig, _as_ctrl_c)
    try:
        yield
    except KeyboardInterrupt:
        click.echo(err=True)


def _as_ctrl_c(number: int, frame: object) -> None:
    raise KeyboardInterrupt
