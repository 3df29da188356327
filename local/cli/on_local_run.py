"""`python -m local redrive` and `python -m local reconcile`: commands of `python -m app` that work on the local run."""

import os
from functools import wraps
from importlib import import_module
from inspect import cleandoc
from typing import Any

import click

from local.local_run import read_run
from local.local_settings import load_local_settings


def on_local_run(name: str) -> click.Command:
    """Returns the command `python -m app NAME`, changed so that it works on the local run and never on real AWS."""
    command: click.Command = getattr(import_module(f"app.cli.{name}"), name)
    callback = command.callback
    assert callback is not None

    @wraps(callback)
    def with_local_run(**options: Any) -> Any:
        run = read_run(load_local_settings().run_dir)
        variables = run.environment(os.environ)
        os.environ.clear()
        os.environ.update(variables)
        click.echo(f"Using the local run at {run.endpoint}", err=True)
        return callback(**options)

    note = "Here, queues, table and site are those of the local run (make run), and these variables have no effect."
    text = f"{cleandoc(command.help or '')}\n\n{note}"
    return click.Command(command.name, callback=with_local_run, params=command.params, help=text)
