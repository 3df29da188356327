"""The schema of questions.json, which contains the measured answers, and the form of users' claims."""

from typing import Literal, NamedTuple

from loadtest.record.comparison import Environment
from loadtest.record.shapes import Record

Figures = dict[str, float]


class CaseRun(Record):
    """One repeat of one case. `doubts`: why the figures may be wrong, such as a busy machine."""

    case: str
    repeat: int
    figures: Figures
    doubts: list[str]


class Answer(Record):
    """The repeats of all cases of one question. In each repeat, every case was measured once."""

    name: str
    command: str
    environment: Environment
    repeats: int
    runs: list[CaseRun]

    def of(self, case: str) -> list[CaseRun]:
        """Returns the repeats of one case, in order. The list is empty if the case was not measured."""
        return [run for run in self.runs if run.case == case]

    def cases(self) -> list[str]:
        """Returns the names of the cases, in the order of their first repeat."""
        return list(dict.fromkeys(run.case for run in self.runs))

    def doubts(self) -> list[str]:
        """Returns each doubt of a case once, with the case's name. If there is a doubt, claims get no verdict."""
        return list(dict.fromkeys(f"{run.case}: {doubt}" for run in self.runs for doubt in run.doubts))


class Answers(Record):
    """The content of questions.json. Each answer has its own environment: answers may be from different runs."""

    answers: list[Answer]

    def of(self, name: str) -> Answer | None:
        return next((answer for answer in self.answers if answer.name == name), None)


class Ratio(NamedTuple):
    """The ratio of one figure in two cases: `figure` of the case `over` ÷ `figure` of the case `under`."""

    figure: str
    over: str
    under: str


class Claim(NamedTuple):
    """A claim of users that `ratio` is more than 1 or, if `side` is `less`, less than 1. `text`: the claim in words.

    `only_if`: the condition under which the claim holds. `unless`: the same ratio in cases that do not meet this
    condition, for comparison.
    """

    text: str
    ratio: Ratio
    side: Literal["more", "less"] = "more"
    only_if: str = ""
    unless: Ratio | None = None
