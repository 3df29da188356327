"""Runs a measurement: `python -m loadtest NAME`. Imports a measurement's module when its command is called."""

from importlib import import_module

import click

from loadtest.stage.awake import awake

# A command such as `ca-bundle` is the click command `main` of the module `loadtest.ca_bundle`.
SECTIONS = {
    "All that is published": {
        "publish": "Measures the parts that documents quote, except parts that are measured already.",
    },
    "The history": {
        "history": "Replays every release under the published attack, and plots it.",
        "calibrated": "Replays the published attack in the published machine's time.",
    },
    "CPU": {
        "bench": "CPU for each webhook: every release, a floor, other languages; or another commit (--against).",
        "instructions": "Instructions per webhook, which repeat also on a busy machine; checked in CI.",
        "worker": "CPU for each event that a worker bills.",
    },
    "Overload and faults": {
        "overload": "The newest release at two and three times its capacity.",
        "outage": "SQS cannot be reached for a minute.",
        "soak": "A million webhooks while the service is killed and SQS fails.",
        "billing": "Thousands of events through workers that are killed.",
    },
    "Parts": {
        "parsing": "Microseconds to parse a webhook, in three ways.",
        "ca-bundle": "Milliseconds to load a bundle of CAs.",
    },
}
NAMES = [name for section in SECTIONS.values() for name in section]


class Measurements(click.Group):
    """Lists the commands without importing their modules."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return NAMES

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in NAMES:
            return None
        try:
            command: click.Command = import_module(f"loadtest.{cmd_name.replace('-', '_')}").main
        except ModuleNotFoundError as error:
            raise click.UsageError(f"{error.name} is not installed: run `make .venv/dev` first") from None
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()))


@click.command(cls=Measurements)
def main() -> None:
    """Measure the service. Each command has its own --help; loadtest/attack.sh is a single attack.

    Measure on an otherwise idle machine. A complete run is written to loadtest/results/<date>-<commit>.
    """
    click.get_current_context().with_resource(awake())


if __name__ == "__main__":
    main(prog_name="python -m loadtest")
