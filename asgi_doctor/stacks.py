"""Represents the stack of a thread as locations in files, and decides which files are the user's."""

import inspect
import linecache
import os
import re
import sys
import sysconfig
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, FrameType
from typing import NamedTuple

from asgi_doctor.greenlets import frames_of

_COROUTINE = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
# The doctor's own frames are left out of every stack.
_OWN = str(Path(__file__).parent) + os.sep
_STANDARD = str(Path(os.__file__).parent) + os.sep
# A file whose path begins with one of these is not the user's. "<" is for frozen modules, as in
# `<frozen importlib._bootstrap>`; "scripts" is the environment's `bin`.
_LIBRARIES = (
    "<",
    _OWN,
    *{sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib", "scripts")},
    # A virtual environment has its own path for `platstdlib`, but uses the standard library of the base Python.
    _STANDARD,
)
_PACKAGES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
# A comprehension counts as a part of the function that contains it.
_COMPREHENSION = re.compile(r"\.?<(listcomp|setcomp|dictcomp|genexpr)>")
_CALLS = 5  # number of calls shown at each end of a chain
_ALLOWS = re.compile(r"#\s*asgi-doctor:\s*ok,\s*because\s+\S")
_claimed: tuple[str, ...] = ()


def claim_package(name: str) -> None:
    """Treats an installed package as the user's code from now on. `name`: a module of the package, imported or not."""
    global _claimed  # noqa: PLW0603  # one process serves one application
    with suppress(ImportError, ValueError):
        spec = find_spec(name.partition(".")[0])
        for path in () if spec is None else spec.submodule_search_locations or (spec.origin or "",):
            if any(part in path for part in _PACKAGES):
                _claimed = (*_claimed, path if path.endswith(".py") else path + os.sep)
        in_app.cache_clear()


@lru_cache(maxsize=4096)
def in_app(file: str) -> bool:
    """Returns whether the file is the user's: part of a claimed package, or of neither a library nor the doctor."""
    if _claimed and file.startswith(_claimed):
        return True
    return not file.startswith(_LIBRARIES) and not any(part in file for part in _PACKAGES)


class Location(NamedTuple):
    """A line of code. `str()` shows the file relative to the current directory, or, in a library, as `…/package/…`."""

    file: str
    line: int
    function: str

    @property
    def in_app(self) -> bool:
        return in_app(self.file)

    @property
    def source(self) -> str:
        return linecache.getline(self.file, self.line).strip()

    @property
    def library(self) -> str:
        """Returns the import name of the library that the line belongs to, or "" for the user's code."""
        shown = "" if self.in_app else self.shown_file
        return re.split(r"[/\\.]", shown[2:])[0] if shown.startswith("…/") else ""

    @property
    def allowed(self) -> bool:
        """Returns whether a comment allows the line to block: on the line, above it, or at the function's `def`."""
        before = linecache.getline(self.file, self.line - 1).strip()
        lines = (self.source, before if before.startswith("#") else "", self.definition)
        return any(_ALLOWS.search(line) for line in lines)

    @property
    def definition(self) -> str:
        """Returns the line with the function's `def`, or "" if there is none."""
        name = re.escape(self.function.rpartition(".")[2])
        above = (linecache.getline(self.file, number) for number in range(self.line, 0, -1))
        return next((line.strip() for line in above if re.match(rf"\s*(async )?def {name}\b", line)), "")

    @property
    def shown_file(self) -> str:
        for library in (*_PACKAGES, _STANDARD):
            if library in self.file:
                return f"…/{self.file.rpartition(library)[2]}"
        file = Path(self.file)
        return str(file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file)

    def __str__(self) -> str:
        return f"{self.shown_file}:{self.line} in {self.function}"


# Outermost location first.
Stack = tuple[Location, ...]


def depth_of_loop() -> int:
    """Returns how many frames are outside of the caller's outermost coroutine. These frames run the event loop.

    The number depends on the loop: asyncio's loop has Python frames, and uvloop has none. Returns 0 if the caller runs
    in no coroutine.
    """
    frames = frames_of(sys._getframe())
    return next((depth for depth, frame in enumerate(frames) if frame.f_code.co_flags & _COROUTINE), 0)


def is_idle(frames: list[FrameType], depth: int) -> bool:
    """Returns whether the loop runs no Python code of a callback. The outermost `depth` frames are the loop's own.

    uvloop has no Python frames, so with uvloop the loop also looks idle while it runs a callback that is written in C.
    """
    code = frames[-1].f_code
    if code.co_name == "select" and code.co_filename.endswith("selectors.py"):
        return len(frames) <= depth
    return not code.co_filename.endswith(f"asyncio{os.sep}events.py") and len(frames) <= depth


def stack_of(frames: list[FrameType], depth: int) -> Stack:
    """Returns the stack of these frames, the outermost first, without the doctor's own frames.

    Leaves out the `depth` outermost frames as well. If no frame is then left, the stack has the innermost frame.
    """
    found = tuple(_at(one.f_code, _line(one)) for one in frames[depth:] or frames[-1:])
    return tuple(location for location in found if not location.file.startswith(_OWN))


def own_line(stack: Stack) -> Location | None:
    """Returns the user's innermost line of the stack, or None if the user has no line in it."""
    return next((location for location in reversed(stack) if location.in_app), None)


def short(stack: Stack) -> str:
    """Returns, as text, the locations of the stack that belong to the app, and the innermost location."""
    return " → ".join(str(location) for location in stack if location.in_app or location is stack[-1])


def chain(line: Location, inner: Stack) -> tuple[str, ...]:
    """Returns the line and the line's calls as texts, without calls of the import system. Shortens a long chain."""
    calls = [str(one) for one in (line, *inner) if not one.file.startswith("<frozen importlib")]
    more = len(calls) - 2 * _CALLS
    return tuple(calls) if more <= 0 else (*calls[:_CALLS], f"… {more} more", *calls[-_CALLS:])


def libraries(line: Location, inner: Stack) -> tuple[str, ...]:
    """Returns the packages of the line and of the calls that the line makes, each once, the outermost first."""
    return tuple(dict.fromkeys(one.library for one in (line, *inner) if one.library))


def inside(stack: Stack, location: Location) -> Stack:
    """Returns the inner part of the stack: the calls that the function of `location` has made."""
    innermost = max((index for index, one in enumerate(stack) if one[::2] == location[::2]), default=-1)
    return stack[innermost + 1 :]


def coroutine(stack: Stack, line: Location) -> str:
    """Returns the line in the user's nearest `async def` that calls the function of `line`.

    Returns "" if there is none, or if `line` itself is in an `async def`.
    """
    outer = stack[: len(stack) - len(inside(stack, line))]
    own = (one for one in reversed(outer) if one.in_app and one.definition.startswith("async "))
    nearest = next(own, line)
    return str(nearest) if nearest[::2] != line[::2] else ""


def _line(frame: FrameType) -> int | None:
    """Returns the frame's line number. For a Jinja template, this is the template's line, not the generated code's."""
    line: int | None = frame.f_lineno
    template = frame.f_globals.get("__jinja_template__")
    return line if line is None or template is None else int(template.get_corresponding_lineno(line))


@lru_cache(maxsize=4096)
def _at(code: CodeType, line: int | None) -> Location:
    # `line` is None if the frame's current instruction has no line.
    return Location(code.co_filename, line or code.co_firstlineno, function_name(code))


def function_name(code: CodeType) -> str:
    """Returns the qualified name.

    A comprehension, which is a function of its own in Python 3.11, gets the name of the function that contains it.
    """
    return _COMPREHENSION.sub("", code.co_qualname.replace("<locals>.", "")) or "<module>"
