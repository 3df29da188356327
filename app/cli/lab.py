"""`python -m app lab`: serve the experiments."""

import click
import uvicorn

from app.settings.lab import LabSettings, load_lab_settings
from app.settings.text import listing

_SETTINGS = f"\b\nSettings, from the environment (default in brackets):\n{listing(LabSettings)}"


@click.group(epilog=_SETTINGS, invoke_without_command=True)
@click.pass_context
def lab(context: click.Context) -> None:
    """Serve the published sync/async experiments."""
    if context.invoked_subcommand is not None:
        return
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
