"""Child processes that end with this one, whatever way it ends: Ctrl-C, SIGTERM, SIGKILL.

`python -m local.child MODULE …` runs `python -m MODULE …` until its standard input ends, which happens when the parent
has gone. It then sends itself SIGTERM, and kills itself and its children LAST_SECONDS later if that has not ended it.
"""

import json
import os
import runpy
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from app.errors import ConfigurationError

LAST_SECONDS = 3.0
# What an interpreter needs; the user's AWS_ and APP_ variables are for no stand-in.
_KEPT = ("PATH", "PYTHONPATH", "TMPDIR", "LANG")


class Child(NamedTuple):
    """A stand-in that runs; `ready` is the JSON that it printed."""

    pid: int
    ready: dict[str, Any]


@contextmanager
def child_process(
    command: list[str], environment: Mapping[str, str], patience: float, output: int | None = None
) -> Iterator["subprocess.Popen[bytes]"]:
    """Runs `python -m COMMAND` inside the context; at the end, it has `patience` seconds to stop by itself."""
    # A session of its own: the parent decides the order in which its children stop, and not Ctrl-C in the terminal.
    with subprocess.Popen(
        [sys.executable, "-m", "local.child", *command],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=output,
        start_new_session=True,
    ) as process:
        assert process.stdin is not None
        try:
            yield process
        finally:
            process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                process.wait(patience)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # and what it has started


@contextmanager
def start(module: str, arguments: list[str], failure: str, patience: float = 0.0) -> Iterator[Child]:
    """Runs a stand-in inside the context, once it has printed a line of JSON.

    Raises ConfigurationError (`failure`) if it ends before.
    """
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    with child_process([module, *arguments], kept, patience, subprocess.PIPE) as process:
        assert process.stdout is not None
        if not (ready := process.stdout.readline()):
            raise ConfigurationError(f"{failure} (see its error above)")
        yield Child(process.pid, json.loads(ready))


def end_with_parent() -> None:
    """Ends this process when its standard input does."""
    threading.Thread(target=_wait_for_end, daemon=True).start()


def _wait_for_end() -> None:
    os.read(sys.stdin.fileno(), 1)  # returns at the end of the file: nothing is ever written
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(LAST_SECONDS)
    os.killpg(0, signal.SIGKILL)  # `child_process` has made it a group of its own, with what it has started


if __name__ == "__main__":
    end_with_parent()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
