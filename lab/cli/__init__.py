"""`python -m lab`: one file per command."""

import sys

import click

from app.errors import ConfigurationError
from app.settings.text import masked
from lab.cli.serve import lab


def main() -> None:
    """Runs a command; a ConfigurationError becomes one line per wrong value, not a traceback."""
    try:
        lab(prog_name="python -m lab")
    except ConfigurationError as error:
        for line in masked(str(error)).splitlines():
            click.echo(f"error: {line}", err=True)
        sys.exit(2)
