"""Tests that a subject can start, before a measurement that takes minutes."""

import tempfile
from pathlib import Path

from app.errors import ConfigurationError
from loadtest.stage import subject
from loadtest.stage.budget import LIMITS
from loadtest.stage.budget.process_tree import ProcessTree
from loadtest.stage.stack import variables
from loadtest.stage.subject import AttackSubject

NOWHERE = "http://127.0.0.1:9"  # the port of the old protocol `discard`, on which nothing listens


def start(what: AttackSubject) -> None:
    """Starts `what` with an unreachable queue, and stops it. Raises ConfigurationError if it does not start.

    This also lets Python compile the modules of a new worktree now, and not later on a quarter of a core.
    """
    nowhere = variables(NOWHERE, None, f"{NOWHERE}/0/queue")
    with tempfile.TemporaryDirectory() as folder:
        try:
            with subject.start(what, ProcessTree(LIMITS["none"]), nowhere, Path(folder) / "log"):
                pass
        except ChildProcessError as error:
            raise ConfigurationError(f"{what.name}: {error}") from None
