"""The command line `python -m app`. Each command has its own module, which is imported only when it is needed."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

from app import __version__
from app.errors import BillingFailed, CommandFailed, ConfigurationError, QueueUnavailable
from app.settings.text import masked
from app.telemetry.resource import require_installed
from app.terminal import draws, is_plain

COMMANDS = ("web", "worker", "setup", "redrive", "reconcile", "release", "unbilled", "queue")
CONTEXT = {
    "help_option_names": ["-h", "--help"],
    "max_content_width": 100,
    "color": False if is_plain() else None,
}


class Commands(click.Group):
    """A group of commands. Each command is in the module of the same name in `package`."""

    def __init__(self, *, package: str, names: Sequence[str], **options: Any):
        super().__init__(context_settings=CONTEXT, **options)
        self._package, self._names = package, names

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._names:
            return None
        require_installed()
        command: click.Command = getattr(import_module(f"{self._package}.{cmd_name}"), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.list_commands(ctx):
            ctx.fail(f"{args[0]!r} is not a command: allowed are {', '.join(self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)


@click.group(cls=Commands, package=__name__, names=COMMANDS)
@click.version_option(__version__, prog_name="invoice-webhook")
def cli() -> None:
    """Put Chargebee's invoice webhooks on SQS, and bill the invoices."""


def count(text: str) -> None:
    """Shows the command's progress on a terminal. The text of the next call replaces `text`."""
    if draws(sys.stderr):
        click.echo(f"\r{text}", nl=False, err=True)


def end_count() -> None:
    """Ends the line that `count` has written."""
    if draws(sys.stderr):
        click.echo("", err=True)


@contextmanager
def failing() -> Iterator[None]:
    """Raises CommandFailed if the table, Chargebee or the queue fails within the `with` block."""
    try:
        yield
    except BillingFailed as error:
        raise CommandFailed(f"{error.detail} ({error.code})") from None
    except QueueUnavailable as error:
        raise CommandFailed(f"{error.detail} ({error.cause or type(error).__name__})") from None


def run(command: click.Command, name: str) -> None:
    """Runs `command`. `name`: what the user types to run the command, such as `python -m app`.

    If the command raises ConfigurationError or CommandFailed, prints the error's lines without a traceback, and exits
    with 2.
    """
    try:
        command(prog_name=name)
    except (ConfigurationError, CommandFailed) as error:
        for line in masked(str(error)).splitlines():
            click.echo(f"error: {line}", err=True)
        sys.exit(2)


def main() -> None:
    """Runs `python -m app`."""
    run(cli, "python -m app")
