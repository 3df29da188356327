"""The service that writes usage, which repeats some of its PutItem calls at any time."""

import random

from loadtest.stage.worker_stack import WorkerStack
from local import seeding
from local.usage_events import SeededBillable

ONE_IN = 20  # items


class Writer:
    """Writes one item in ONE_IN again, be it reserved or billed meanwhile. `repeated`: the number written so far."""

    def __init__(self, stage: WorkerStack, billables: list[SeededBillable], seed: int) -> None:
        self.repeated = 0
        self._run = stage.run
        shuffled = random.Random(seed)  # noqa: S311  # no secret
        self._again = shuffled.sample(billables, len(billables) // ONE_IN)

    def act(self, progress: float) -> None:
        """Writes what is due when the share `progress` of the work is done."""
        due = int(len(self._again) * progress)
        seeding.write(self._run, self._again[self.repeated : due])
        self.repeated = max(self.repeated, due)

    def is_done(self) -> bool:
        return self.repeated == len(self._again)
