"""The command line `python -m local`. Each command has its own module, which is imported only when it is needed."""

import click
from click.core import ParameterSource

from app import __version__
from app.cli import Commands, run

COMMANDS = (
    *("run", "demo", "send", "queue", "invoices", "live", "race"),
    *("releases", "diff", "compare", "doctor"),
)
# Commands of `python -m app` that `python -m local` also offers. With `python -m local`, they use the local run.
ON_THE_LOCAL_RUN = ("redrive", "reconcile")


def given(name: str) -> bool:
    """Returns whether the user has set the running command's parameter `name` on the command line."""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


class _Commands(Commands):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS, *ON_THE_LOCAL_RUN]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in ON_THE_LOCAL_RUN:
            return super().get_command(ctx, cmd_name)
        from local.cli.on_local_run import on_local_run  # only `redrive` and `reconcile` need this import

        return on_local_run(cmd_name)


@click.group(cls=_Commands, package=__name__, names=COMMANDS)
@click.version_option(__version__, prog_name="invoice-webhook")
def cli() -> None:
    """Run the service on a laptop, with stand-ins for AWS and Chargebee; send webhooks; watch and compare releases."""


def main() -> None:
    """Runs `python -m local`."""
    run(cli, "python -m local")
