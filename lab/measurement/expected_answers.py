"""The schema of questions.json, which has the measured answers, and of the claims that users make."""

from typing import Literal, NamedTuple

from loadtest.record.comparison import Environment
from loadtest.record.shapes import Record

Figures = dict[str, float]


class CaseRun(Record):
    """One repeat of one case. `doubts`: why its figures are not comparable, such as a busy machine."""

    case: str
    repeat: int
    figures: Figures
    doubts: list[str]


class Answer(Record):
    """Interleaved repeats of all cases of one question."""

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
        """Returns each doubt once, with the name of its case. If there is a doubt, the figures support no verdict."""
        return list(dict.fromkeys(f"{run.case}: {doubt}" for run in self.runs for doubt in run.doubts))


class Answers(Record):
    """The content of questions.json. Each answer has its own environment, as a run may measure one question only."""

    answers: list[Answer]

    def of(self, name: str) -> Answer | None:
        return next((answer for answer in self.answers if answer.name == name), None)


class Ratio(NamedTuple):
    """The ratio of one figure in two cases: `figure` of the case `over` ÷ `figure` of the case `under`."""

    figure: str
    over: str
    under: str


class Claim(NamedTuple):
    """A statement of users, as a ratio that is more (or less) than 1. `text` begins with the two values of the ratio.

    `only_if`: the condition of the claim. `unless`: the same ratio without this condition, for comparison.
    """

    text: str
    ratio: Ratio
    side: Literal["more", "less"] = "more"
    only_if: str = ""
    unless: Ratio | None = None
