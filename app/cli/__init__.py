"""The command line: one file per command, imported only when it is called."""

import sys
from importlib import import_module

import click

from app import __version__
from app.errors import ConfigurationError
from app.settings.text import masked

COMMANDS = ("web", "worker", "setup", "redrive", "reconcile", "queue")
# Commands of 1.3, and what has taken their place. Until 2.0.
MOVED = {
    **{
        name: f"python -m local {name}"
        for name in ("demo", "send", "invoices", "race", "releases", "diff", "compare", "doctor")
    },
    "lab": "python -m lab",
    "capacity": "python -m loadtest capacity",
}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"app.cli.{cmd_name}"), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] in MOVED:
            raise ConfigurationError(f"`python -m app {args[0]}` is now `{MOVED[args[0]]}`")
        if args and args[0] not in COMMANDS:
            ctx.fail(f"{args[0]!r} is not a command: allowed are {', '.join(COMMANDS)}")
        return super().resolve_command(ctx, args)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="invoice-webhook")
def cli() -> None:
    """Chargebee invoice webhooks in, SQS messages out."""


def main() -> None:
    """Runs a command; a ConfigurationError becomes one line per wrong value, not a traceback."""
    try:
        cli(prog_name="python -m app")
    except ConfigurationError as error:
        for line in masked(str(error)).splitlines():
            click.echo(f"error: {line}", err=True)
        sys.exit(2)
