"""Stacks of a thread as places in files, and the place that held it, of several samples."""

import inspect
import os
import sys
import sysconfig
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import NamedTuple

# Of few samples of three functions that take a third each, more than half are often of the same one.
MOST = 3 / 4
_COROUTINE = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
# What has no file, such as a frozen module, is not ours either.
_LIBRARIES = ("<", *(sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib")))
_PACKAGES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


class Place(NamedTuple):
    """A line of code. As text, files below the current directory are relative to it."""

    file: str
    line: int
    function: str

    @property
    def ours(self) -> bool:
        """Whether it is outside the standard library and installed packages."""
        return not self.file.startswith(_LIBRARIES) and not any(part in self.file for part in _PACKAGES)

    def __str__(self) -> str:
        file = Path(self.file)
        shown = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
        return f"{shown}:{self.line} in {self.function}"


# Outermost first, and never empty.
Stack = tuple[Place, ...]


def depth_of_loop() -> int:
    """How many frames are outside of the outermost coroutine in which this is called: those that run the event loop.

    They depend on the loop: all but one of uvloop's are not Python's. Without a coroutine: 0.
    """
    frames = _frames(sys._getframe())
    return next((depth for depth, frame in enumerate(frames) if frame.f_code.co_flags & _COROUTINE), 0)


def is_idle(frame: FrameType, depth: int) -> bool:
    """Whether the loop, `depth` frames deep, runs no Python code.

    uvloop waits without a frame of its own. Then a callback that is itself written in C looks idle, too.
    """
    code = frame.f_code
    if code.co_name == "select" and code.co_filename.endswith("selectors.py"):
        return len(_frames(frame)) <= depth
    return not code.co_filename.endswith(f"asyncio{os.sep}events.py") and len(_frames(frame)) <= depth


def stack_of(frame: FrameType, depth: int) -> Stack:
    """That of a thread whose innermost frame is `frame`, without the `depth` outermost ones, if more are left."""
    frames = _frames(frame)
    return tuple(map(_place, frames[depth:] or frames[-1:]))


def culprit(samples: Sequence[Stack]) -> tuple[Place, Stack]:
    """The innermost place of ours, and a stack with it; without any of ours, the innermost place that is most frequent.

    Where they differ: the innermost function that most samples have in common, and its most frequent line. So a loop
    over several functions is named, and not the one of them that the sampler happened to see last.
    """
    own = [(tuple(place for place in stack if place.ours), stack) for stack in samples]
    left = [(places, stack) for places, stack in own if places] or [(stack[-1:], stack) for stack in samples]
    most, depth = len(left) * MOST, 0
    while functions := Counter(places[depth][::2] for places, _ in left if len(places) > depth):
        function, seen = functions.most_common(1)[0]
        if depth > 0 and seen < most:
            break
        left = [one for one in left if len(one[0]) > depth and one[0][depth][::2] == function]
        depth += 1
    place, _ = Counter(places[depth - 1] for places, _ in left).most_common(1)[0]
    return place, next(stack for places, stack in left if places[depth - 1] == place)


def short(stack: Stack) -> str:
    """Our own places of it, and the innermost one."""
    return " → ".join(str(place) for place in stack if place.ours or place is stack[-1])


def _frames(innermost: FrameType) -> list[FrameType]:
    frames: list[FrameType] = []
    frame: FrameType | None = innermost
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return frames[::-1]


def _place(frame: FrameType) -> Place:
    line: int | None = frame.f_lineno  # None between two lines
    code = frame.f_code
    return Place(code.co_filename, line or code.co_firstlineno, code.co_qualname.replace("<locals>.", ""))
