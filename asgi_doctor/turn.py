"""One turn of the event loop, and what is known of a place that has held it."""

import time
from collections import deque
from dataclasses import dataclass, field

from asgi_doctor.stacks import Place, Stack

MOST_SAMPLES = 100  # of a turn; the latest ones


@dataclass(slots=True)
class Blocked:
    """What is known of one place: how often and for how many seconds it held the loop; those that it computed."""

    place: Place
    stack: Stack
    times: int = 0
    seconds: float = 0.0
    longest: float = 0.0
    computing: float = 0.0

    def add(self, seconds: float, computing: float) -> None:
        self.times += 1
        self.seconds += seconds
        self.longest = max(self.longest, seconds)
        self.computing += computing


@dataclass(slots=True)
class Turn:
    """From a question to the loop until its answer.

    `computing`: that its thread had computed when asked; `waited`: for a core since then; `held`: seconds so far.
    """

    asked: float
    computing: float
    waited: float = 0.0
    held: float = 0.0
    answered: float | None = None
    samples: deque[Stack] = field(default_factory=lambda: deque(maxlen=MOST_SAMPLES))
    counted: bool = False

    def answer(self) -> None:
        self.answered = time.monotonic()

    def wait(self, seconds: float) -> None:
        self.waited += seconds

    def hold(self, now: float) -> None:
        """Until now, without the time that the loop's thread waited for a core."""
        self.held = max(self.held, now - self.asked - self.waited)

    def count(self) -> None:
        self.counted = True
