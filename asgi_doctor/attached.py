"""The part of `asgi-doctor attach` that runs in the watched process, in a separate thread. attach.py starts it."""

import asyncio
import inspect
import json
import linecache
import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from asgi_doctor.finding import Finding
from asgi_doctor.findings import Findings
from asgi_doctor.greenlets import frames_of_thread
from asgi_doctor.loops import RunningLoop
from asgi_doctor.report import SAID_AT_ONCE, blocking, other
from asgi_doctor.stacks import claim_package
from asgi_doctor.watchdog import Watchdog

_INTERVAL = 0.1
_FREE_SECONDS = 5.0  # how long `_forget` waits for each loop to run the doctor's last callback
# Files of asyncio whose frames belong to the loop. uvloop's loop has no Python frames.
_OF_LOOP = re.compile(r"asyncio[/\\](base_events|events|runners)\.py$")


def watch(folder: str, main: asyncio.AbstractEventLoop | None, warn: float, seconds: float) -> None:
    """Watches all loops for `seconds`, or until the command deletes the script. Writes messages to `folder`, as JSON.

    `main`: the loop that runs in the main thread, if any. At the end, removes this copy of the doctor from the process.
    """
    sources = set(linecache.cache)
    with (Path(folder) / "found").open("a", encoding="utf-8", buffering=1) as file:

        def write(kind: str, value: Any) -> None:
            with suppress(OSError, ValueError):  # the command has been killed
                file.write(json.dumps([kind, value]) + "\n")

        def report(finding: Finding) -> None:
            if finding.kind in SAID_AT_ONCE:
                write("said", other(finding))

        for argument in sys.orig_argv:  # uvicorn's or gunicorn's application may be an installed package
            if re.fullmatch(r"[\w.]+:[\w.]+", argument):
                claim_package(argument.partition(":")[0])
        collected = Findings(warn, lambda *found: write("said", blocking(*found)), report)
        watchdogs = [Watchdog(warn, collected=collected).start(*running) for running in _running_loops(main)]
        for watchdog in watchdogs:
            asyncio.run_coroutine_threadsafe(watchdog.pools.discover(), watchdog.loop)
        if watchdogs:
            loops = "1 event loop" if len(watchdogs) == 1 else f"{len(watchdogs)} event loops"
            write("watches", f"Watching {loops} for {seconds:g} s")
            latest = time.monotonic() + seconds
            while time.monotonic() < latest and (Path(folder) / "script.py").exists():
                time.sleep(_INTERVAL)
        for watchdog in watchdogs:
            watchdog.stop()
        found = [asdict(finding) for finding in collected.all()]
        _forget(folder, sources, [watchdog.loop for watchdog in watchdogs])
        write(*(("findings", found) if watchdogs else ("failed", "it runs no event loop of asyncio or uvloop")))


def _running_loops(main: asyncio.AbstractEventLoop | None) -> Iterator[RunningLoop]:
    """Yields each running loop once. Searches the local variables in all stacks for loops and asyncio's Runners."""
    known = set()
    for thread in sorted(threading.enumerate(), key=lambda one: one is not threading.main_thread()):
        frames = frames_of_thread(thread.ident or 0)
        depth = next((index for index, one in enumerate(frames) if one.f_code.co_flags & inspect.CO_COROUTINE), None)
        if depth is None:  # no coroutine runs, so this is an estimate until `Watchdog._answer` counts the loop's frames
            own = [index + 1 for index, one in enumerate(frames) if _OF_LOOP.search(one.f_code.co_filename)]
            depth = max(own, default=len(frames))
        here = [main] if thread is threading.main_thread() else []
        here += [_loop_of(value) for frame in frames[:depth] for value in frame.f_locals.values()]
        for loop in here:
            in_thread = loop is not None and getattr(loop, "_thread_id", thread.ident) == thread.ident
            if loop is not None and in_thread and loop.is_running() and loop not in known:
                known.add(loop)
                yield RunningLoop(loop, thread, depth)


def _loop_of(value: object) -> asyncio.AbstractEventLoop | None:
    found = getattr(value, "_loop", None) if isinstance(value, asyncio.Runner) else value
    return found if isinstance(found, asyncio.AbstractEventLoop) else None


def _forget(folder: str, sources: set[str], loops: list[asyncio.AbstractEventLoop]) -> None:
    """Waits for the doctor's last callbacks. Removes the doctor's modules, and linecache's entries except `sources`."""
    for loop in loops:
        free = threading.Event()
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(free.set)
            free.wait(_FREE_SECONDS)
    for name in [name for name in sys.modules if name.partition(".")[0] == __name__.partition(".")[0]]:
        del sys.modules[name]
    for path in [path for path in sys.path_importer_cache if path.startswith(folder)]:
        del sys.path_importer_cache[path]
    for source in set(linecache.cache) - sources:
        linecache.cache.pop(source, None)
