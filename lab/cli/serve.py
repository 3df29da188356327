"""`python -m lab`: serve the experiments."""

import os
from contextlib import ExitStack
from importlib.util import find_spec

import click

from app.errors import ConfigurationError
from app.settings.text import listing
from lab.cli.database import check_options, ctrl_c, scale_option, setup, throw_away_postgres
from lab.cli.database import postgres as postgres_command
from lab.lab_settings import LabSettings, load_lab_settings

# Packages of the dependency group `dev`, which no deployment installs.
PACKAGES = ("httpx", "polars", "psycopg", "psycopg_pool", "requests")
_SETTINGS = f"\b\nSettings, from the environment (default in brackets):\n{listing(LabSettings)}"


class _Lab(click.Group):
    """Imports the command `measure` only when a user calls it, because `measure` imports the load test.

    `--only` without a command calls `measure`.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, ["measure", *args] if args and args[0].partition("=")[0] == "--only" else args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), "measure"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name != "measure":
            return super().get_command(ctx, cmd_name)
        try:
            from lab.cli.measure import measure
        except ModuleNotFoundError as error:
            raise click.UsageError(f"{error.name} is not installed: run `make .venv/dev` first") from None
        return measure

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the commands without importing `measure`, so that --help does not need the load test's packages."""
        others = [(name, command.get_short_help_str(formatter.width)) for name, command in self.commands.items()]
        with formatter.section("Commands"):
            formatter.write_dl([("measure", "Measure the experiments, and what users ask."), *others])


@click.group(cls=_Lab, epilog=_SETTINGS, invoke_without_command=True)
@click.option("--workers", metavar="N", help="Processes that serve: APP_LAB_WORKERS.")
@click.option("--port", metavar="N", help="Port to listen on: APP_LAB_PORT.")
@click.option("--postgres", is_flag=True, help="Start a throw-away Postgres with the study's rows.")
@scale_option
@click.pass_context
def lab(context: click.Context, workers: str | None, port: str | None, postgres: bool, scale: float) -> None:
    """Serve the published sync/async experiments. With `--only NAME`, measure an experiment or a question instead.

    The command also starts the slow upstream that some experiments call, unless APP_LAB_UPSTREAM_URL is set.
    Ctrl-C or SIGTERM ends all processes within seconds, even if requests still wait.
    """
    check_options(context)
    if context.invoked_subcommand is not None:
        return
    if missing := [name for name in PACKAGES if find_spec(name) is None]:
        raise ConfigurationError(f"the lab's packages are not installed ({', '.join(missing)}): `make .venv/dev` does")
    # uvicorn's workers read their settings only from the environment, so the options become variables.
    _tell(APP_LAB_WORKERS=workers, APP_LAB_PORT=port)
    with ctrl_c(), ExitStack() as stack:
        if postgres:
            stack.enter_context(throw_away_postgres(scale))
        if load_lab_settings().upstream_url is None:
            _start_upstream(stack)
        _serve(load_lab_settings())


def _tell(**variables: str | None) -> None:
    os.environ.update({name: value for name, value in variables.items() if value is not None})


def _start_upstream(stack: ExitStack) -> None:
    from lab.stand_ins.upstream import start  # not imported if APP_LAB_UPSTREAM_URL is set

    upstream = stack.enter_context(start())
    no_proxy = ",".join(filter(None, (os.environ.get("NO_PROXY"), "127.0.0.1")))
    _tell(APP_LAB_UPSTREAM_URL=upstream.url, NO_PROXY=no_proxy, no_proxy=no_proxy)
    click.echo(f"Upstream on {upstream.url}", err=True)


def _serve(settings: LabSettings) -> None:
    from lab.application.lab_server import serve  # not imported by the subcommands

    serve(settings, lambda url: click.echo(f"Listening on {url}"))


lab.add_command(setup)
lab.add_command(postgres_command)
