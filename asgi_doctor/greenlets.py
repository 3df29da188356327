"""Finds the stack of a thread that runs a greenlet. SQLAlchemy's asyncio extension runs each statement in a greenlet.

A greenlet has a stack of its own. The coroutine that waits for the greenlet is in the stack of the greenlet's parent.
"""

import sys
import threading
from types import FrameType
from typing import Any

# Maps the identifier of each traced thread to the greenlet that the thread runs.
_running: dict[int, Any] = {}


def observe() -> None:
    """Traces the greenlets of this thread from now on, if the application has imported `greenlet`.

    Does nothing if another tracer is set already.
    """
    greenlet = sys.modules.get("greenlet")
    if greenlet is not None and greenlet.gettrace() is None:
        greenlet.settrace(_switched)


def forget() -> None:
    """Stops tracing the greenlets of this thread, if `observe` has begun to trace them."""
    greenlet = sys.modules.get("greenlet")
    if greenlet is not None and greenlet.gettrace() is _switched:
        greenlet.settrace(None)
    _running.pop(threading.get_ident(), None)


def _switched(_: str, switch: tuple[Any, Any]) -> None:
    _running[threading.get_ident()] = switch[1]


def frames_of_thread(thread: int) -> list[FrameType]:
    """Returns the frames of a thread, the outermost first, or [] if the thread has ended.

    `sys._current_frames` is documented for debuggers only, but Python has no other function for this.
    """
    frames = frames_of(sys._current_frames().get(thread))
    waiting = getattr(_running.get(thread), "parent", None)
    while waiting is not None:
        frames = frames_of(waiting.gr_frame) + frames
        waiting = waiting.parent
    return frames


def frames_of(innermost: FrameType | None) -> list[FrameType]:
    """Returns the frames of a stack, the outermost first."""
    frames: list[FrameType] = []
    while innermost is not None:
        frames.append(innermost)
        innermost = innermost.f_back
    return frames[::-1]
