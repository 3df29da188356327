"""`python -m local doctor your.module:app`: runs asgi-doctor, and names the releases that show the cure."""

import click

from asgi_doctor.cli import main
from asgi_doctor.finding import Finding
from local import lessons
from local.doctor.doctored_releases import showing


@click.command(
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    options_metavar="[OPTIONS]",
    short_help="Name the lines that block an ASGI app's event loop, and the releases that show the cure.",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def doctor(arguments: tuple[str, ...]) -> None:
    """Run asgi-doctor with these arguments, and name this project's releases that show how to cure what it finds.

    With --help, asgi-doctor lists its options. `python -m local diff` shows the code of a release.
    """
    raise click.exceptions.Exit(main(arguments, prog="python -m local doctor", explain=_releases))


def _releases(finding: Finding) -> list[str]:
    return [f"→ {release.value}: {lessons.change(release)}" for release in showing(finding)]
