"""Runs the service, `python -m app web`, and writes traces of its event loop, each from one signal to the next.

python -m profiles.one_webhook.traced FILE    each SIGUSR1 ends a trace, adds the trace to FILE, and begins the next one

Writes the id of this process to a file that is named like FILE, but with the suffix `.pid`.
"""

import asyncio
import json
import os
import runpy
import signal
import sys
from pathlib import Path

from profiles.one_webhook.counter import Counter, Trace


class Traces:
    """The traces of this process, which `next` writes to `file`."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._counter: Counter | None = None
        self._done: list[Trace] = []

    def next(self, *_: object) -> None:
        """Handles SIGUSR1: ends a trace, writes all traces, and begins the next. Runs in the event loop's thread."""
        if self._counter is not None:
            self._done.append(self._counter.stop())
        unfinished = self._file.with_suffix(".part")
        unfinished.write_text(json.dumps(self._done), encoding="utf-8")
        unfinished.rename(self._file)
        self._counter = Counter()
        self._counter.start(asyncio.get_running_loop())


if __name__ == "__main__":
    file = Path(sys.argv[1])
    signal.signal(signal.SIGUSR1, Traces(file).next)
    file.with_suffix(".pid").write_text(str(os.getpid()), encoding="utf-8")
    sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115  # the log lines, which are written as in production
    sys.argv[1:] = ["web"]
    runpy.run_module("app", run_name="__main__")
