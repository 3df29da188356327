"""`python -m local`: one file per command, imported only when it is called."""

import sys
from importlib import import_module

import click

from app import __version__
from app.errors import ConfigurationError
from app.settings.text import masked

COMMANDS = (
    *("run", "demo", "send", "queue", "invoices", "live", "race"),
    *("releases", "diff", "compare", "doctor"),
)
ON_THE_LOCAL_RUN = ("redrive", "reconcile")  # commands of `python -m app`


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS, *ON_THE_LOCAL_RUN]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in ON_THE_LOCAL_RUN:
            from local.cli.joined import on_local_run  # which the other commands do without

            return on_local_run(getattr(import_module(f"app.cli.{cmd_name}"), cmd_name))
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"local.cli.{cmd_name}"), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.list_commands(ctx):
            ctx.fail(f"{args[0]!r} is not a command: allowed are {', '.join(self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="invoice-webhook")
def cli() -> None:
    """Around the service on a laptop: stand-ins for AWS and Chargebee, senders, the live page, the releases."""


def main() -> None:
    """Runs a command; a ConfigurationError becomes one line per wrong value, not a traceback."""
    try:
        cli(prog_name="python -m local")
    except ConfigurationError as error:
        for line in masked(str(error)).splitlines():
            click.echo(f"error: {line}", err=True)
        sys.exit(2)
