"""The verdicts on what users report, on made-up figures."""

from math import inf, nan

import pytest

from lab.measurement.answers import Answer, Answers, CaseRun, Claim, Ratio
from lab.measurement.questions.deadlock import ANSWERS, IN_TIME
from lab.report import answers as report
from loadtest.record.estimate import MedianEstimate
from tests.lab.measurement.conftest import WHERE

MORE = Claim("a ÷ b", Ratio("rps", "a", "b"), only_if="it rains", unless=Ratio("rps", "c", "b"))
FEW, MANY = "in the handler, 40 users", "in the handler, 100 users"


def answer(figures: dict[str, float], doubts: list[str] | None = None) -> Answer:
    """Returns an answer to the question `deadlock`, with three repeats. `figures`: by case, 1 by default."""
    cases = [FEW, MANY, "dependency, 40 users", "dependency, 100 users", "40 connections, 100 users"]
    runs = [
        CaseRun(
            case=case,
            repeat=repeat,
            figures=dict.fromkeys((ANSWERS, IN_TIME), figures.get(case, 1.0)),
            doubts=doubts or [],
        )
        for repeat in range(3)
        for case in cases
    ]
    return Answer(name="deadlock", command="python -m lab", environment=WHERE, repeats=3, runs=runs)


@pytest.mark.parametrize(
    ("claim", "measured", "unless", "verdict"),
    [
        (MORE, (5, 4, 6), (1, 0.9, 1.1), "only if it rains"),
        (MORE, (5, 4, 6), (3, 2, 4), "so it is"),
        (MORE, (5, 1.05, 6), (1, 1, 1), "not here"),
        (MORE, (inf, inf, inf), (1, 1, 1), "only if it rains"),
        (MORE._replace(unless=None), (1.2, 1.15, 1.3), None, "so it is"),
        (MORE._replace(unless=None, side="less"), (0.5, 0.4, 0.6), None, "so it is"),
        (MORE._replace(unless=None, side="less"), (0.95, 0.9, 1.0), None, "not here"),
    ],
)
def test_verdicts(claim: Claim, measured: tuple[float, ...], unless: tuple[float, ...] | None, verdict: str) -> None:
    """A claim holds if the whole interval is on the claimed side, by more than runs of equal cases differ."""
    otherwise = MedianEstimate(*unless) if unless else None
    assert report.judge(claim, MedianEstimate(*measured), otherwise) == verdict


def test_a_busy_machine_gets_no_verdict() -> None:
    """A claim whose measurements are doubtful gets no verdict, and a line names the doubt."""
    table = report.claims(answer({MANY: 500.0}, ["other processes used 1.0 of 2 cores"]))
    assert "dependency | 500; otherwise 1 | no verdict |" in table
    assert "DOUBTFUL: 5 of the measurements, as in the handler, 40 users: other processes used 1.0" in table


def test_the_table_of_claims() -> None:
    """The table has factor and condition of each claim, except of claims whose cases were not measured."""
    table = report.claims(answer({MANY: 500.0}))
    assert "| 500; otherwise 1 | only if as many requests as threads and connections together are under way |" in table
    assert "max_concurrency" not in table


def test_nothing_divided_by_nothing() -> None:
    """0 divided by 0 counts as not measured; any other number divided by 0 is infinite."""
    nothing = answer({MANY: 5.0, "dependency, 100 users": 0.0, "40 connections, 100 users": 0.0})
    assert report.outcomes(nothing)[0].measured.median == inf
    both = answer({MANY: 0.0, "dependency, 100 users": 0.0})
    assert "handler ÷ by a sync" not in report.claims(both)
    assert report.interval(MedianEstimate(nan, nan, nan)) == "–"


def test_an_answer_has_a_name() -> None:
    """An answer is found by its name; a question without an answer gives None."""
    answers = Answers(answers=[answer({})])
    assert answers.of("deadlock") is answers.answers[0]
    assert answers.of("memory") is None
