"""Records which event loops run now, and in which threads. `no_blocking` watches these loops, but starts none."""

import asyncio
import functools
import importlib
import importlib.util
import sys
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from asgi_doctor.greenlets import frames_of

# The number of asyncio's frames outside of a callback: run_forever, _run_once and Handle._run. uvloop has no frames.
_ASYNCIO_FRAMES = 3


class RunningLoop(NamedTuple):
    """A loop, the thread that runs it, and how many of the thread's outermost frames belong to the loop."""

    loop: asyncio.AbstractEventLoop
    thread: threading.Thread
    depth: int


running: list[RunningLoop] = []
# Functions that the loop's thread calls when a loop starts (with True), and when the loop stops (with False).
listeners: list[Callable[[RunningLoop, bool], None]] = []


@functools.cache
def observe() -> None:
    """Makes `running` list all loops of asyncio and uvloop that start after this call, while they run."""
    _replace(asyncio.BaseEventLoop, _ASYNCIO_FRAMES)
    if importlib.util.find_spec("uvloop") is not None:
        _replace(importlib.import_module("uvloop").Loop, 0)


def _replace(loops: Any, own_frames: int) -> None:
    original = loops.run_forever

    @functools.wraps(original)
    def run_forever(loop: asyncio.AbstractEventLoop) -> None:
        depth = len(frames_of(sys._getframe())) + own_frames
        this = RunningLoop(loop, threading.current_thread(), depth)
        running.append(this)
        for listener in listeners:
            listener(this, True)
        try:
            original(loop)
        finally:
            running.remove(this)
            for listener in listeners:
                listener(this, False)

    loops.run_forever = run_forever
