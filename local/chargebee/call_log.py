"""Records every call to the stand-in's API, for audits and for the stand-in's web page."""

from collections import Counter, deque
from collections.abc import Iterable
from typing import Any

from local.chargebee.api_limits import WINDOW


class CallLog:
    """Records the calls to the API.

    `times` contains the unix time of each answer, by operation and then by status. An answer that the stand-in cut off
    on purpose has the status `cut_off`. `most` is the highest number of calls with a valid API key in any 60 s.
    `most_taken` is the highest number of calls that the rate limit has allowed in any 60 s.
    """

    def __init__(self) -> None:
        self.times: dict[str, dict[str, list[float]]] = {}
        self.injected: dict[str, int] = {}
        self.replayed = 0
        self.most = 0
        self.most_taken = 0
        self._arrived: deque[float] = deque()
        self._refused: deque[float] = deque()

    def arrive(self, now: float, taken: int) -> None:
        """Counts a call with a valid API key. `taken`: how many calls the rate limit has allowed in the last 60 s."""
        self._arrived.append(now)
        self._forget(now)
        self.most = max(self.most, len(self._arrived))
        self.most_taken = max(self.most_taken, taken)

    def inject(self, fault: str) -> None:
        self.injected[fault] = self.injected.get(fault, 0) + 1

    def replay(self) -> None:
        self.replayed += 1

    def answer(self, operation: str, status: str, now: float) -> None:
        self.times.setdefault(operation, {}).setdefault(status, []).append(round(now, 3))
        if status == "429":
            self._refused.append(now)

    def each_second(self, now: float) -> tuple[list[int], list[int]]:
        """Returns two lists, each with a number of calls for each of the last 60 seconds, oldest second first.

        The first list counts the calls that the API did not answer with 429. The second list counts the calls that the
        API answered with 429.
        """
        self._forget(now)
        arrived, refused = _each_second(self._arrived, now), _each_second(self._refused, now)
        return [max(0, all_ - some) for all_, some in zip(arrived, refused, strict=True)], refused

    def audited(self) -> dict[str, Any]:
        return {
            "calls": self.times,
            "injected": self.injected,
            "replayed": self.replayed,
            "most_calls_in_60s": self.most,
            "most_taken_in_60s": self.most_taken,
        }

    def _forget(self, now: float) -> None:
        for times in (self._arrived, self._refused):
            while times and times[0] <= now - WINDOW:
                times.popleft()


def _each_second(times: Iterable[float], now: float) -> list[int]:
    counted = Counter(int(now - time) for time in times)
    return [counted[second] for second in reversed(range(int(WINDOW)))]
