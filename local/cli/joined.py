"""Commands of a deployment, on the local run: `python -m local redrive`, `python -m local reconcile`."""

import os
from functools import wraps
from typing import Any

import click

from local.run import read_run
from local.settings import load_local_settings


def on_local_run(command: click.Command) -> click.Command:
    """Returns the command with the variables of the local run in place of a deployment's, and of no real account."""
    callback = command.callback
    assert callback is not None

    @wraps(callback)
    def joined(**options: Any) -> Any:
        run = read_run(load_local_settings().run_dir)
        variables = run.environment(os.environ)
        os.environ.clear()
        os.environ.update(variables)
        click.echo(f"On the local run, {run.endpoint}", err=True)
        return callback(**options)

    return click.Command(command.name, callback=joined, params=command.params, help=command.help)
