"""A ping: a callback that the watchdog schedules on the event loop, and that the loop runs as soon as it is free."""

import time
from collections import deque
from dataclasses import dataclass, field

from asgi_doctor.stacks import Stack

MOST_SAMPLES = 100  # per ping; the latest ones


@dataclass(slots=True)
class Ping:
    """One ping and what the watchdog measured until the loop answered it. Times in seconds, of `time.monotonic`.

    `cpu_before`: CPU time of the loop's thread when the ping was sent. `waited`: time since then in which that thread
    had no core. `blocked`: time since then in which it had one. `samples`: stacks of the thread.
    """

    sent: float
    cpu_before: float
    waited: float = 0.0
    blocked: float = 0.0
    answered: float | None = None
    samples: deque[Stack] = field(default_factory=lambda: deque(maxlen=MOST_SAMPLES))
    counted: bool = False

    def answer(self) -> None:
        """Runs on the event loop."""
        self.answered = time.monotonic()

    def add_wait(self, seconds: float) -> None:
        self.waited += seconds

    def update_blocked(self, now: float) -> None:
        self.blocked = max(self.blocked, now - self.sent - self.waited)

    def mark_counted(self) -> None:
        self.counted = True
