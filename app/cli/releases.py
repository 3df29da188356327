"""`python -m app releases`: the optimisation history at a glance."""

import ast
from importlib.util import find_spec
from pathlib import Path

import click

from app.settings import NEWEST, Release


@click.command()
def releases() -> None:
    """List the releases: name, version, change, how to switch."""
    for release in Release:
        default = "  (default)" if release is NEWEST else ""
        click.echo(f"{release.value:<22} {release.version:<6} {change(release)}{default}")
    click.echo(f"\nSwitch with the environment: APP_RELEASE={NEWEST.value} make run")


def change(release: Release) -> str:
    """The `Change:` paragraph of the release's docstring, read without importing the release."""
    spec = find_spec(f"app.web.releases.{release.value}")
    assert spec is not None
    assert spec.origin is not None
    docstring = ast.get_docstring(ast.parse(Path(spec.origin).read_text())) or ""
    _, _, rest = docstring.partition("Change: ")
    return " ".join(rest.partition("\nCost:")[0].split())
