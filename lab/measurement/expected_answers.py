"""The schema of questions.json: what was measured of the questions, and what is claimed."""

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
        """The repeats of one case, in order; empty if the case was not run."""
        return [run for run in self.runs if run.case == case]

    def cases(self) -> list[str]:
        """The cases, in the order of their first repeat."""
        return list(dict.fromkeys(run.case for run in self.runs))

    def doubts(self) -> list[str]:
        """Each doubt once, with its case; with one, the figures support no verdict."""
        return list(dict.fromkeys(f"{run.case}: {doubt}" for run in self.runs for doubt in run.doubts))


class Answers(Record):
    """questions.json: each answer with its environment, because a question can be measured again by itself."""

    answers: list[Answer]

    def of(self, name: str) -> Answer | None:
        return next((answer for answer in self.answers if answer.name == name), None)


class Ratio(NamedTuple):
    """One figure of two cases, whose ratio is measured: `over` ÷ `under`."""

    figure: str
    over: str
    under: str


class Claim(NamedTuple):
    """A statement that users make: `ratio` is more (or less) than one. The text begins with the divided values.

    `only_if`: the claim's condition. `unless`: the ratio without this condition, for comparison.
    """

    text: str
    ratio: Ratio
    side: Literal["more", "less"] = "more"
    only_if: str = ""
    unless: Ratio | None = None
