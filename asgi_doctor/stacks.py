"""Stacks of a thread as locations in files, and the location that several samples point to."""

import inspect
import os
import sys
import sysconfig
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import NamedTuple

# The share of the samples that a function needs. A half is too little: if three functions take a third of the time
# each, more than half of a few samples often happen to be in the same one.
MOST = 3 / 4
_COROUTINE = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
# The file of a frozen module, for example, is `<frozen importlib._bootstrap>`.
_LIBRARIES = ("<", *(sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib")))
_PACKAGES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


class Location(NamedTuple):
    """A line of code. `str()` shows files below the current directory relative to that directory."""

    file: str
    line: int
    function: str

    @property
    def in_app(self) -> bool:
        """Whether the file is outside the standard library and installed packages."""
        return not self.file.startswith(_LIBRARIES) and not any(part in self.file for part in _PACKAGES)

    def __str__(self) -> str:
        file = Path(self.file)
        shown = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
        return f"{shown}:{self.line} in {self.function}"


# Outermost location first; never empty.
Stack = tuple[Location, ...]


def depth_of_loop() -> int:
    """Returns the number of frames that run the event loop: those outside of the caller's outermost coroutine.

    The number depends on the loop: uvloop has a single Python frame. 0 if no coroutine calls this.
    """
    frames = _frames(sys._getframe())
    return next((depth for depth, frame in enumerate(frames) if frame.f_code.co_flags & _COROUTINE), 0)


def is_idle(frame: FrameType, depth: int) -> bool:
    """Returns whether the loop, whose own frames are the outermost `depth`, runs no Python code.

    uvloop waits without a Python frame of its own, so with uvloop a callback written in C looks idle, too.
    """
    code = frame.f_code
    if code.co_name == "select" and code.co_filename.endswith("selectors.py"):
        return len(_frames(frame)) <= depth
    return not code.co_filename.endswith(f"asyncio{os.sep}events.py") and len(_frames(frame)) <= depth


def stack_of(frame: FrameType, depth: int) -> Stack:
    """Returns the stack that ends in `frame`, without the `depth` outermost frames if there are more than these."""
    frames = _frames(frame)
    return tuple(map(_location, frames[depth:] or frames[-1:]))


def culprit(samples: Sequence[Stack]) -> tuple[Location, Stack]:
    """Returns the innermost location of the app, and a stack that contains it.

    If the samples differ, it is the most frequent line of the innermost function that most of them have in common. If
    a function calls several others in a loop, this names the loop, not the function that the last sample happened to
    see. If no sample contains code of the app, it is the most frequent innermost location.
    """
    own = [(tuple(location for location in stack if location.in_app), stack) for stack in samples]
    left = [(locations, stack) for locations, stack in own if locations] or [(stack[-1:], stack) for stack in samples]
    most, depth = len(left) * MOST, 0
    while functions := Counter(locations[depth][::2] for locations, _ in left if len(locations) > depth):
        function, seen = functions.most_common(1)[0]
        if depth > 0 and seen < most:
            break
        left = [one for one in left if len(one[0]) > depth and one[0][depth][::2] == function]
        depth += 1
    location, _ = Counter(locations[depth - 1] for locations, _ in left).most_common(1)[0]
    return location, next(stack for locations, stack in left if locations[depth - 1] == location)


def short(stack: Stack) -> str:
    """Returns the locations of the stack that belong to the app, and the innermost location."""
    return " → ".join(str(location) for location in stack if location.in_app or location is stack[-1])


def _frames(innermost: FrameType) -> list[FrameType]:
    frames: list[FrameType] = []
    frame: FrameType | None = innermost
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return frames[::-1]


def _location(frame: FrameType) -> Location:
    line: int | None = frame.f_lineno  # None between two lines
    code = frame.f_code
    return Location(code.co_filename, line or code.co_firstlineno, code.co_qualname.replace("<locals>.", ""))
