"""`python -m local releases`: lists the releases of the service, each of which shows one optimisation."""

import click

from app.settings import NEWEST, Release
from local.lessons import KNOWN_AS, change


@click.command()
def releases() -> None:
    """List each release with its version and its change, and show how to switch to another release."""
    for release in Release:
        known_as = f" – {KNOWN_AS[release]}" if release in KNOWN_AS else ""
        default = " (default)" if release is NEWEST else ""
        click.echo(f"{release.value:<21} {release.version}{known_as}{default}")
        click.echo(f"    {change(release)}")
    click.echo(f"\nTo run another release: APP_RELEASE={Release.V02_BLOCKING.value} make run")
    click.echo("To see what a release changed: .venv/bin/python -m local diff v03 v04")
