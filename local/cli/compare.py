"""`python -m local compare v02 v03`: draws timelines that show how several releases handle the same webhooks."""

import os
import shutil
import sys
from pathlib import Path

import click

from app.errors import ConfigurationError
from app.settings import Release, load_settings
from app.terminal import is_dumb
from local import ctrl_c, exposure, lessons
from local.compare import compared_terminal, svg
from local.compare.recording import Recording, delay, record
from local.compare.styles import STYLES
from local.local_run import REPLACED
from profiles.instruments.functions import State


@click.command()
@click.argument("releases", nargs=-1, required=True)
@click.option(
    "--count",
    type=click.IntRange(1, 100),
    default=20,
    show_default=True,
    help="Number of webhooks; all are posted at once.",
)
@click.option(
    "--svg",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write the timelines to this file, as an SVG picture.",
)
def compare(releases: tuple[str, ...], count: int, file: Path | None) -> None:
    """Post the same webhooks to RELEASES, one release after the other, and show what each thread and webhook waits for.

    Each call to SQS takes 100 ms longer, as if SQS were far away. APP_LOCAL_SQS_DELAY sets another delay in seconds; 0
    adds no delay. Other settings apply, too: with APP_LOCAL_TLS=1, the calls use TLS. To change a setting for one
    release only, append the setting to the release's name: v06,APP_SQS_MAX_CONNECTIONS=100. On a busy machine, the
    times are longer, but threads and webhooks still wait for the same reasons.
    """
    chosen = [_parsed(text) for text in releases]
    if file is not None and not os.access(file.parent, os.W_OK):  # checked before the recordings, which take long
        raise ConfigurationError(f"--svg {file}: allowed is a file in a folder that this process can write to")
    ctrl_c.end_like_ctrl_c()  # so that SIGTERM also stops the child processes and removes the temporary folder
    settings = load_settings()
    exposure.warn(settings)
    seconds = delay()
    click.echo(f"Each call to SQS takes {seconds * 1000:g} ms longer (APP_LOCAL_SQS_DELAY={seconds:g}).")
    # The bar shows no remaining time, because some releases take many times as long as others.
    with click.progressbar(
        chosen,
        label="Recording",
        hidden=is_dumb(sys.stdout),
        show_eta=False,
        item_show_func=lambda one: one and one[0].value,
    ) as bar:
        recorded = [record(release, settings, count, variables) for release, variables in bar]
    longest = max(one.seconds for one in recorded)
    for one in recorded:
        _show(one, longest)
    if file is not None:
        try:
            file.write_text(svg.draw(recorded), encoding="utf-8")
        except OSError as error:
            raise ConfigurationError(f"--svg {file}: cannot be written: {error.strerror}") from None
        click.echo(f"picture: {file}")


def _parsed(text: str) -> tuple[Release, dict[str, str]]:
    """Parses a text such as `v06,APP_X=1`. Raises ConfigurationError if the release or a variable is not allowed."""
    name, *variables = text.split(",")
    for variable in variables:
        if not variable.startswith("APP_") or "=" not in variable:
            raise ConfigurationError(f"{variable} after {name}: allowed is APP_NAME=VALUE")
        if variable.partition("=")[0] in (*REPLACED, "APP_RELEASE"):
            raise ConfigurationError(f"{variable} after {name}: compare sets this variable itself")
    return lessons.find(name), dict(variable.split("=", 1) for variable in variables)


def _show(recorded: Recording, seconds: float) -> None:
    columns = max(20, shutil.get_terminal_size((100, 24)).columns - compared_terminal.LABEL - 1)
    click.secho(f"\n{recorded.name}: {compared_terminal.summary(recorded)}", bold=True)
    shown: set[State] = set()
    for line in compared_terminal.lines(recorded, seconds, columns):
        click.echo(f"{line.label:<{compared_terminal.LABEL}} " + "".join(map(_cell, line.states)).rstrip())
        shown |= {state for state in line.states if state is not None}
    click.echo(f"{'':<{compared_terminal.LABEL}} 0{f'{seconds:.2f} s':>{columns - 1}}")
    click.echo(
        "   ".join(click.style(words, fg=STYLES[state].terminal) for state, words in compared_terminal.legend(shown))
    )
    for doubt in recorded.doubts:
        click.echo(f"DOUBTFUL: during the recording, {doubt}; this may have changed the times above")


def _cell(state: State | None) -> str:
    return compared_terminal.NOT_YET if state is None else click.style(STYLES[state].letter, fg=STYLES[state].terminal)
