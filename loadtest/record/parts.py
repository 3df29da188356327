"""The parts that `publish` measures: each command whose figures or pictures a document quotes.

The order matters, because the lab uses the parameters that `calibrated` has fitted.
"""

from typing import NamedTuple

# Studies and questions of the lab, with the minutes that three repeats take.
_LAB = {
    "database": 16,
    "blocking": 22,
    "outbound": 15,
    "orders": 14,
    "three_tasks": 5,
    "tips": 8,
    "do_nothing": 25,
    "def_or_async_def": 7,
    "deadlock": 2,
    "disconnect": 1,
    "background_tasks": 2,
    "workers": 4,
    "memory": 2,
    "large_responses": 8,
    "observing": 4,
    "python_and_server": 5,
}
# Commands that draw pictures into profiles/, with the minutes that they take. They print DOUBTFUL if they have doubts.
_PICTURES = {"make": 3, "timelines": 4, "latencies": 3, "one_webhook": 2, "doctor": 1, "live": 2, "race": 1}


class Part(NamedTuple):
    """A part. `command`: the words after `python -m`. `trial`: the words for a trial run, or "" if there is none.

    `minutes`: an estimate on two cores. `draws`: the part writes pictures instead of a result.
    """

    name: str
    minutes: int
    command: str
    trial: str = ""
    draws: bool = False

    @property
    def typed(self) -> str:
        """Returns the command as a user types it."""
        return f"python -m {self.command}"

    def shortened(self) -> "Part":
        """Returns the trial run of this part."""
        return self._replace(command=self.trial, minutes=1)


PARTS = (
    Part("history", 25, "loadtest history --repeats 5 --sustained", "loadtest history --quick --repeats 1"),
    Part("calibrated", 40, "loadtest calibrated", "loadtest calibrated --quick"),
    Part("bench", 40, "loadtest bench", "loadtest bench --repeats 1 --seconds 1 --only v10 --only go"),
    Part("worker", 5, "loadtest worker", "loadtest worker --events 100 --repeats 1"),
    Part("overload", 6, "loadtest overload", "loadtest overload --seconds 2 --only overload"),
    Part("outage", 2, "loadtest outage", "loadtest outage --seconds 6"),
    Part("soak", 20, "loadtest soak", "loadtest soak --webhooks 5000 --rate 500"),
    Part("billing", 27, "loadtest billing", "loadtest billing --events 100"),
    *(
        Part(name, minutes, f"lab measure --only {name}", f"lab measure --quick --only {name}")
        for name, minutes in _LAB.items()
    ),
    *(Part(f"profiles.{name}", minutes, f"profiles.{name}", draws=True) for name, minutes in _PICTURES.items()),
)
NAMES = tuple(part.name for part in PARTS)
