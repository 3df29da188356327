"""Defines a question: its cases, and the claims of users about the cases."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lab.measurement.expected_answers import Claim, Figures
from lab.measurement.stage import Stage

Case = Callable[[Stage], Figures]  # measures a case, or raises NotHere


class NotHere(Exception):
    """This machine lacks what a case needs, such as a version of Python. The results then omit the case."""


@dataclass(frozen=True)
class Question:
    """A question of users. `asked`: the places where users ask it. `here`: our load. `figure`: the figure of the chart.

    `quick`: the names of the cases in a trial run. If `quick` is empty, a trial run has all cases.
    """

    title: str
    asked: str
    here: str
    figure: str
    cases: Mapping[str, Case]
    claims: tuple[Claim, ...]
    database: bool = False
    quick: tuple[str, ...] = ()

    def chosen(self, quick: bool) -> dict[str, Case]:
        return {name: case for name, case in self.cases.items() if not quick or not self.quick or name in self.quick}
