"""A stand-in as a child process: it prints a line of JSON once it listens, and exits at the end of its standard input,
so also when its parent is killed.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from app.errors import ConfigurationError

# What an interpreter needs; the user's AWS_ and APP_ variables are for nobody else.
_KEPT = ("PATH", "PYTHONPATH", "TMPDIR", "LANG")


class Child(NamedTuple):
    """One that runs; `ready` is what it printed."""

    pid: int
    ready: dict[str, Any]


@contextmanager
def start(module: str, arguments: list[str], failure: str, patience: float = 0.0) -> Iterator[Child]:
    """`python -m module` inside the context. Raises ConfigurationError (`failure`) where it does not start.

    At the end it has `patience` seconds to end by itself, for one that has to tidy up.
    """
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    # A session of its own: Ctrl-C in the terminal must not end it before service and worker have stopped.
    with subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        env=kept,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            ready = process.stdout.readline()
            if not ready:
                raise ConfigurationError(f"{failure} (see its error above)")
            yield Child(process.pid, json.loads(ready))
        finally:
            process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                process.wait(patience)
            process.kill()


def exit_now() -> None:
    os._exit(0)


def end_with_parent(end: Callable[[], object] = exit_now) -> None:
    """In the child; `end` is called in a thread."""
    threading.Thread(target=_wait_for_end, args=(end,), daemon=True).start()


def _wait_for_end(end: Callable[[], object]) -> None:
    os.read(sys.stdin.fileno(), 1)  # returns at the end of the file: nothing is ever written
    end()
