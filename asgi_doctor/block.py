"""A block: the time in which the event loop ran one callback and could run nothing else."""

from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import NamedTuple

from asgi_doctor.request import Request
from asgi_doctor.stacks import Stack
from asgi_doctor.watched import Passed

# Seconds. Python code releases the interpreter lock to a waiting thread within 5 ms (`sys.getswitchinterval()`). The
# other 10 ms are for getting a core. If the sampler waits longer, C code or a garbage collection has kept the lock.
MOST_SWITCH = 0.015
SAMPLES = 5  # the watchdog takes a sample every limit ÷ SAMPLES seconds; at the start of a block, more often
MOST_SAMPLES = 100  # a block keeps only this many samples, the latest ones


class Sample(NamedTuple):
    """A stack of the loop's thread. `seconds`: the stack's duration, without the time in which the thread had no core.

    `computing`: CPU seconds of the thread. `collecting`: seconds of garbage collections. Consecutive samples with equal
    stacks are merged: `times` is the number of merged samples, and `first` is the `seconds` of the first one.
    """

    stack: Stack
    seconds: float
    computing: float
    collecting: float
    times: float = 1
    first: float = 0.0

    def plus(self, *more: float) -> "Sample":
        """Returns the sample with the numbers `more` added to `seconds`, `computing`, `collecting` and `times`."""
        sums = (own + other for own, other in zip(self[1:5], more, strict=True))
        return Sample._make((self.stack, *sums, self.first))


@dataclass(slots=True)
class Block:
    """One callback of the loop, as the watchdog's samples saw it. `began` is a time of `time.monotonic`.

    `callback` identifies the callback. `without_core`: seconds in which the thread had no core, or another thread kept
    the interpreter lock. `computing` and `collecting` are sums over all samples, even those no longer in `samples`.
    `kept_lock`: the loop's thread kept the lock at the beginning of the block, so there may be only one sample.
    """

    callback: Hashable
    request: Request
    began: float
    without_core: float = 0.0
    kept_lock: bool = False
    seconds: float = 0.0
    computing: float = 0.0
    collecting: float = 0.0
    samples: deque[Sample] = field(default_factory=lambda: deque(maxlen=MOST_SAMPLES))
    taken: int = 0
    counted: bool = False
    reported: bool = False

    def add(self, sample: Sample) -> None:
        if self.samples and self.samples[-1].stack == sample.stack:
            self.samples[-1] = self.samples[-1].plus(*sample[1:5])
        else:
            self.samples.append(sample._replace(first=sample.seconds))
        self.computing += sample.computing
        self.collecting += sample.collecting
        self.taken += 1

    def prolong(self, seconds: float, computing: float, collecting: float) -> None:
        """Adds the time since the last sample to that sample. `seconds` does not include time without a core."""
        if self.samples:
            self.samples[-1] = self.samples[-1].plus(seconds, computing, collecting, 0)
            self.computing += computing
            self.collecting += collecting

    def lasts_until(self, now: float) -> None:
        self.seconds = max(self.seconds, now - self.began - self.without_core)


@dataclass(slots=True)
class Ping:
    """A callback that the watchdog schedules on the loop. `answered`: when the loop ran it, or None if it has not."""

    answered: float | None = None


def begun(key: Hashable, request: Request, passed: Passed, wanted: float, times: tuple[float, float]) -> Block:
    """Returns a block that is sampled for the first time. `times`: the earliest and the most probable beginning.

    If the loop's thread kept the interpreter lock, for example in a regular expression, the sampler could not run
    meanwhile. In this case, the block began earlier than the most probable time.
    """
    earliest, probably = times
    if passed.released_lock:  # the loop often released the lock; only a garbage collection can have kept it for long
        kept, began = passed.collecting > MOST_SWITCH, passed.at - passed.collecting
    else:
        kept, began = passed.kept_lock and passed.late > MOST_SWITCH, passed.at - passed.seconds + wanted
    if kept and passed.late >= wanted:
        return Block(key, request, max(began, earliest), passed.without_core, kept_lock=True)
    return Block(key, request, max(probably, earliest))
