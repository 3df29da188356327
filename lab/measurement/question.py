"""A question: its cases, and what is claimed of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lab.measurement.expected_answers import Claim, Figures
from lab.measurement.stage import Stage

Case = Callable[[Stage], Figures]  # raises NotHere


class NotHere(Exception):
    """This machine lacks what a case needs; the case's row is left out."""


@dataclass(frozen=True)
class Question:
    """`asked`: where users ask it. `here`: the load. The picture shows `figure` of each case.

    `quick`: the cases of a trial run; all of them if it is empty.
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
