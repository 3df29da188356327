"""The pauses of Python's cyclic garbage collector: no Python code runs meanwhile, in no thread."""

import gc
from time import perf_counter

from app.telemetry.metrics.instruments import Histogram, Instrument

SECONDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)
GENERATIONS = 3


class GarbageMetrics:
    """Measures from `start` to `stop`, in whichever thread a collection happens; there is one at a time."""

    def __init__(self) -> None:
        pauses = Histogram("cpython.gc.pause", "s", "Pauses for garbage collection.", SECONDS, ("generation",))
        self._generations = [pauses.series(number) for number in range(GENERATIONS)]
        self._began = 0.0
        self.instruments: list[Instrument] = [pauses]

    def start(self) -> None:
        gc.callbacks.append(self._collecting)

    def stop(self) -> None:
        gc.callbacks.remove(self._collecting)

    def _collecting(self, phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            self._began = perf_counter()
        else:
            self._generations[info["generation"]].observe(perf_counter() - self._began)
