"""`python -m app lab`: serve the experiments."""

from contextlib import ExitStack

import click
import uvicorn

from app.cli.lab_database import postgres as postgres_command
from app.cli.lab_database import scale_option, setup, throw_away_postgres
from app.settings.lab import LabSettings, load_lab_settings
from app.settings.text import listing

_SETTINGS = f"\b\nSettings, from the environment (default in brackets):\n{listing(LabSettings)}"


@click.group(epilog=_SETTINGS, invoke_without_command=True)
@click.option("--postgres", is_flag=True, help="Start a throw-away Postgres with the study's rows.")
@scale_option
@click.pass_context
def lab(context: click.Context, postgres: bool, scale: float) -> None:
    """Serve the published sync/async experiments."""
    if context.invoked_subcommand is not None:
        return
    with ExitStack() as stack:
        if postgres:
            stack.enter_context(throw_away_postgres(scale))
        _serve()


def _serve() -> None:
    settings = load_lab_settings()
    uvicorn.run(
        "app.lab.main:from_environment",
        factory=True,
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        loop=settings.loop,
        http=settings.http,
        backlog=settings.backlog,
        limit_concurrency=settings.limit_concurrency,
        access_log=False,
    )


lab.add_command(setup)
lab.add_command(postgres_command)
