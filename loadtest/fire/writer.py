"""Simulates the service that writes usage into the table, and that may repeat a PutItem call at any time."""

import random

from loadtest.stage.worker_stack import WorkerStack
from local import seeding
from local.usage_events import SeededBillable

ONE_IN = 20  # one item in 20 is written again


class Writer:
    """Writes some items again, even if a worker has reserved or billed them. `repeated`: how many items so far."""

    def __init__(self, stage: WorkerStack, billables: list[SeededBillable], seed: int) -> None:
        self.repeated = 0
        self._run = stage.run
        shuffled = random.Random(seed)  # noqa: S311  # no secret
        self._again = shuffled.sample(billables, len(billables) // ONE_IN)

    def act(self, progress: float) -> None:
        """Writes the items that are due. `progress`: how much of the workers' work is done (0 to 1)."""
        due = int(len(self._again) * progress)
        seeding.write(self._run, self._again[self.repeated : due])
        self.repeated = max(self.repeated, due)

    def is_done(self) -> bool:
        return self.repeated == len(self._again)
