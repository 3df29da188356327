"""The commands of `python -m loadtest`."""

from importlib import import_module

import click

from loadtest.__main__ import NAMES
from loadtest.record.folders import ROOT


def test_every_measurement_is_a_command() -> None:
    """Each listed name has a module with a command, and each such module is listed."""
    modules = {
        file.stem for file in (ROOT / "loadtest").glob("*.py") if "@click.command" in file.read_text(encoding="utf-8")
    }
    assert {name.replace("-", "_") for name in NAMES} == modules - {"__main__"}
    for module in modules - {"__main__"}:
        assert isinstance(import_module(f"loadtest.{module}").main, click.Command)


def test_the_readme_has_every_measurement() -> None:
    """The README names each command as a user types it."""
    readme = (ROOT / "loadtest" / "README.md").read_text(encoding="utf-8")
    assert [name for name in NAMES if f"python -m loadtest {name}" not in readme] == []
