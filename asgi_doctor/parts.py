"""Divides a block among the user's lines that share it.

A block is one callback of the event loop, and may run several lines: for example, first a line of a dependency waits,
and then a line of the endpoint. Each of these lines has consecutive samples, so each becomes a part of the block. If a
`for` loop calls several functions again and again, their samples alternate at random, so the calling function becomes
one part, at its longest line.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from asgi_doctor.block import SAMPLES, Block, Sample
from asgi_doctor.request import Request
from asgi_doctor.stacks import Location, Stack

# If a function takes at least this share of its caller's time, the part is the function, not the caller. Half is too
# small a share: if there are only a few samples, one of three equally slow functions often has more than half of them.
_MOST = 3 / 4
# Samples that alternate at random (see _RARELY) are ignored if they take less than this share of the time.
_LITTLE = 1 / 5
# A line is ignored if it takes less than this share of a block, and less than the limit.
_TINY = 1 / 10
# The samples of a line count as consecutive if they form few groups: in a random order, they would form at least this
# many times as many groups.
_RARELY = 3
# A block counts as waiting if its share of CPU time is less than _WAITS, and if the system counts CPU time.
_WAITS, _COUNTS_CPU = 1 / 4, Path("/proc/self/schedstat").exists()
# Files of frameworks whose functions call the endpoint and serialise the result.
FRAMEWORKS = ("/fastapi/routing.py", "/starlette/routing.py", "/litestar/routes/http.py", "/litestar/routes/base.py")
_ROOT = Location("", 0, "")


class Part(NamedTuple):
    """One line's time in a block, estimated from samples. `variance`: the variance of `seconds`, in s²."""

    location: Location
    samples: Sequence[Sample]
    seconds: float
    computing: float
    collecting: float
    variance: float = 0.0

    @property
    def stack(self) -> Stack:
        """Returns the stack of the longest sample that contains the line or, if none does, of the longest sample."""
        fitting = [sample for sample in self.samples if self.location in sample.stack]
        return max(fitting or self.samples, key=lambda sample: sample.seconds).stack


@dataclass(eq=False, slots=True)
class _Seen:
    """A sample, the user's locations in the sample's stack (`path`), and the line to which the sample is assigned.

    `times`: the number of consecutive samples that this sample stands for.
    """

    sample: Sample
    path: Stack
    times: float
    line: Location | None = None


def divided(block: Block, interval: float) -> list[Part]:
    """Returns the parts of a block that has samples, the longest first. `interval`: seconds between two samples."""
    seen = [_seen(sample, block.request, interval) for sample in block.samples]
    _assign(seen, 0, waits=_COUNTS_CPU and block.computing < _seconds(seen) * _WAITS)
    taken = Counter[Location | None]()
    for one in seen:
        taken[one.line] += one.sample.seconds  # type: ignore[assignment]  # a counter of seconds
    least = min(sum(taken.values()) * _TINY, interval * SAMPLES, max(taken.values()))
    seen = [one for one in seen if one.line is not None and taken[one.line] >= least]
    computing = sum(one.sample.computing for one in seen) or 1.0
    collecting = sum(one.sample.collecting for one in seen) or 1.0
    parts = []
    for line, (share, variance) in _shares(seen).items():
        samples = [one.sample for one in seen if one.line == line]
        computed = block.computing * sum(one.computing for one in samples) / computing
        collected = block.collecting * sum(one.collecting for one in samples) / collecting
        parts.append(Part(line, samples, block.seconds * share, computed, collected, variance))
    return sorted(parts, key=lambda part: -part.seconds)


def _seen(sample: Sample, request: Request, interval: float) -> _Seen:
    """Returns the sample with its path, which ends at the endpoint's `def` if the framework works for the endpoint."""
    own = tuple(location for location in sample.stack if location.in_app)
    endpoint = request.endpoint
    if endpoint is not None and (not own or _is_of_framework(sample.stack)):
        routing = max((index for index, one in enumerate(sample.stack) if one.file.endswith(FRAMEWORKS)), default=0)
        own, sample = (*own, endpoint), sample._replace(stack=(endpoint, *sample.stack[routing:]))
    return _Seen(sample, (_ROOT, *(own or sample.stack[-1:])), max(sample.times, sample.seconds / interval))


def _is_of_framework(stack: Stack) -> bool:
    """Returns True if a frame of the framework is deeper than all frames of the user. It does work for the endpoint."""
    own = max((index for index, one in enumerate(stack) if one.in_app), default=-1)
    return any(one.file.endswith(FRAMEWORKS) for one in stack[own + 1 :])


def _shares(seen: list[_Seen]) -> dict[Location, tuple[float, float]]:
    """Returns each line's share of the block (0 to 1), and the variance of the line's seconds in s².

    If two consecutive samples are in different lines, the time at which the line changed is not known. Each of the two
    lines then gets half of the time between the samples.
    """
    seconds, variances = defaultdict[Location, float](float), defaultdict[Location, float](float)
    before = None
    for one in seen:
        assert one.line is not None
        seconds[one.line] += one.sample.seconds
        if before is not None and one.line != before:
            seconds[one.line] -= one.sample.first / 2
            seconds[before] += one.sample.first / 2
            variances[one.line] += one.sample.first**2 / 12
            variances[before] += one.sample.first**2 / 12
        before = one.line
    whole = sum(seconds.values()) or 1.0
    return {line: (seconds[line] / whole, variances[line]) for line in seconds}


def _assign(seen: list[_Seen], depth: int, *, waits: bool) -> None:
    """Assigns each sample to a line, or to none (see _LITTLE). All paths have the same function at the index `depth`.

    If the block `waits`, each line gets its own samples, even if several lines alternate, as in a `for` loop.
    """
    keys = [(one.path[depth], _function(one, depth + 1)) for one in seen]
    rows, everything = Counter(key for key, _ in groupby(keys)), sum(one.times for one in seen)
    others = []
    for key, times in rows.items():
        found = [one for one, its in zip(seen, keys, strict=True) if its == key]
        share = sum(one.times for one in found) / everything
        if not waits and times * _RARELY > everything * share * (1 - share) + share**2:
            others += found
        elif key[1] is None:
            _give(found, key[0])
        else:
            _assign(found, depth + 1, waits=waits)
    if others and (len(others) == len(seen) or _seconds(others) > _LITTLE * _seconds(seen)):
        _assign_mixed([one for one in seen if one in others], depth)


def _assign_mixed(seen: list[_Seen], depth: int) -> None:
    """Assigns samples whose functions alternate at random: all of them to the longest line at the index `depth`.

    If the longest function takes _MOST of the time, or if `depth` is 0 (not a line), assigns only its samples.
    """
    if depth == 0:  # if any samples are of the user's code, ignores those that are only of libraries
        seen = [one for one in seen if one.path[1].in_app] or seen
    functions: dict[tuple[str, str] | None, list[_Seen]] = defaultdict(list)
    for one in seen:
        functions[_function(one, depth + 1)].append(one)
    function, most = max(functions.items(), key=lambda item: _seconds(item[1]))
    if function is not None and (depth == 0 or _seconds(most) >= _MOST * _seconds(seen)):
        _assign(most, depth + 1, waits=False)
    else:
        line = max(seen, key=lambda one: _seconds([other for other in seen if other.path[depth] == one.path[depth]]))
        _give(seen, line.path[depth])


def _function(one: _Seen, depth: int) -> tuple[str, str] | None:
    return one.path[depth][::2] if len(one.path) > depth else None


def _give(seen: list[_Seen], line: Location) -> None:
    for one in seen:
        one.line = line


def _seconds(seen: list[_Seen]) -> float:
    return sum(one.sample.seconds for one in seen)
