"""`python -m local diff v03 v04`: shows the code that a release changes."""

import click

from local import lessons

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@click.command()
@click.argument("old")
@click.argument("new")
def diff(old: str, new: str) -> None:
    """Show what release NEW changes in the code of release OLD; v03 is short for v03_threadpool."""
    before, after = lessons.find(old), lessons.find(new)
    click.echo(f"{after.value}: {lessons.change(after)}\n")
    for line in lessons.diff(before, after):
        click.secho(line, fg=_COLOURS.get(line[:1]))
