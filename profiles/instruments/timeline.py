"""Records a timeline of this process: stacks of the event loop, threads, webhooks, and group commit's calls to SQS.

Every millisecond, a thread samples the stacks of all other threads, and of the tasks of webhooks and calls. This
sampler changes nothing in the sampled code, but makes the process a little slower.

While other threads compute, the sampler waits for the interpreter lock. It then samples less often, and functions seem
to begin and end later than they really do. If a thread waits for the lock, its stack shows the function that the thread
will continue when it gets the lock. `local/compare` interprets the stacks.
"""

import asyncio
import json
import sys
import threading
import time
from collections.abc import Collection, Hashable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from asgi_doctor.garbage import without_collections
from profiles.instruments.functions import CALL, WEBHOOK
from profiles.instruments.samples import StackSpans, StackTable

INTERVAL_SECONDS = 0.001


class Callbacks(NamedTuple):
    """The webhooks of a release without ASGI, which have no tasks.

    `open`: the webhooks in flight. `waits`: the function that is shown while a webhook with a complete body waits.
    """

    open: Collection[Any]
    waits: CodeType


@contextmanager
def recorded(file: Path, path: str, callbacks: Callbacks | None = None) -> Iterator[None]:
    """Records a timeline of this process and of its webhooks on `path`. When the `with` block ends, writes `file`."""
    sampler = Sampler(asyncio.get_running_loop(), path, callbacks)
    sampler.start()
    try:
        yield
    finally:
        sampler.stop()
        file.write_text(json.dumps(sampler.timeline()) + "\n", encoding="utf-8")


class Sampler(threading.Thread):
    """Samples all other threads, and the tasks of `loop`. Create the sampler in the thread that runs `loop`."""

    def __init__(self, loop: asyncio.AbstractEventLoop, path: str, callbacks: Callbacks | None = None) -> None:
        super().__init__(name="sampler", daemon=True)
        self._callbacks = callbacks
        self._webhooks: dict[object, int] = {}
        self._loop, self._path = loop, path
        self._loop_thread = threading.get_ident()
        self._ended = threading.Event()
        self._stacks, self._spans = StackTable(), StackSpans()
        self._numbers: WeakKeyDictionary[asyncio.Task[Any], int] = WeakKeyDictionary()
        self._next = count()
        self._scopes: dict[int, Any] = {}
        self._records: dict[int, Any] = {}
        self._batches: dict[int, int] = {}

    def run(self) -> None:
        while not self._ended.wait(INTERVAL_SECONDS):
            with without_collections():
                threads = self._threads()
                loop = threads["loop", self._loop_thread]
                rows = threads | self._tasks(loop) | self._without_tasks(loop)
            self._spans.add(time.monotonic(), rows)
        self._spans.add(time.monotonic(), {})

    def stop(self) -> None:
        self._ended.set()
        self.join()

    def timeline(self) -> dict[str, Any]:
        """Returns the timeline for JSON. `stacks` has each stack once. Each of the `rows` is a kind, a name and spans.

        A span is a time in which the stack did not change. The rows are sorted by beginning. The kinds are `loop`,
        `thread`, `webhook` and `call`. A webhook's name is its event id, or "" if the service has not read the event.
        """
        closed = sorted(self._spans.closed.items(), key=lambda row: row[1][0].began)
        rows = [(*self._named(*key), spans) for key, spans in closed]  # type: ignore[misc]  # this class makes the keys
        return {"stacks": self._stacks.seen, "rows": rows}

    def _named(self, kind: str, number: int) -> tuple[str, str]:
        if kind == "webhook":
            record = self._records.get(number) or self._scopes[number].get("state", {}).get("record")
            return kind, str(getattr(record and record.event, "id", ""))
        return kind, f"batch of {self._batches[number]}" if kind == "call" else str(number)

    def _threads(self) -> dict[Hashable, int]:
        found: dict[Hashable, int] = {}
        for number, frame in sys._current_frames().items():  # a function for debuggers; Python offers no other way
            if number != self.ident:
                found["loop" if number == self._loop_thread else "thread", number] = self._stacks.of_thread(frame)
        return found

    def _number(self, task: "asyncio.Task[Any]") -> int:
        """Returns a number for `task`. No other task gets the same number, not even after this task has ended."""
        if task not in self._numbers:
            self._numbers[task] = next(self._next)
        return self._numbers[task]

    def _tasks(self, loop: int) -> dict[Hashable, int]:
        """Returns, for each webhook and each call of group commit to SQS, the number of its task's stack.

        `loop`: the number of the event loop's stack, which is also the stack of the task that runs now.
        """
        found: dict[Hashable, int] = {}
        current = asyncio.current_task(self._loop)
        for task in asyncio.all_tasks(self._loop):
            outermost: Any = task.get_coro()
            frame = outermost.cr_frame
            if frame is None:  # the task has ended since `all_tasks`
                continue
            number = self._number(task)
            match outermost.cr_code.co_name:
                case WEBHOOK.plain:
                    scope = frame.f_locals["self"].scope
                    if scope["path"] == self._path:
                        self._scopes[number] = scope
                        found["webhook", number] = loop if task is current else self._stacks.of_task(task)
                case CALL.plain if "batch" in frame.f_locals:
                    self._batches[number] = len(frame.f_locals["batch"])
                    found["call", number] = loop if task is current else self._stacks.of_task(task)
        return found

    def _without_tasks(self, loop: int) -> dict[Hashable, int]:
        """Returns, for each webhook that has no task, the number of its stack. `loop`: see `_tasks`."""
        found: dict[Hashable, int] = {}
        if self._callbacks is None:
            return found
        handled = _selves(sys._current_frames().get(self._loop_thread))
        waits = self._stacks.of_waiting(self._callbacks.waits)
        for webhook in list(self._callbacks.open):
            if webhook not in self._webhooks:
                number = self._webhooks[webhook] = next(self._next)
                self._records[number] = webhook.record
            stack = waits if webhook.body else self._stacks.of_waiting()
            found["webhook", self._webhooks[webhook]] = loop if id(webhook) in handled else stack
        return found


def _selves(frame: FrameType | None) -> set[int]:
    """Returns the `id()` of each object that has a method in the stack of `frame`."""
    found = set()
    while frame is not None:
        if frame.f_code.co_varnames[:1] == ("self",):
            found.add(id(frame.f_locals.get("self")))
        frame = frame.f_back
    return found
