"""The verdicts on what users report, on made-up figures."""

from math import inf, nan

import pytest

from lab.measurement.expected_answers import Answer, Answers, CaseRun, Claim, Ratio
from lab.measurement.questions.deadlock_cases import ANSWERS, IN_TIME
from lab.report import lab_answers as report
from loadtest.record.price_estimate import MedianEstimate
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
    ("claim", "measured", "verdict"),
    [
        (MORE, (5, 4, 6), ""),
        (MORE, (inf, inf, inf), ""),
        (MORE, (1.2, 1.15, 1.3), ""),
        (MORE, (5, 1.05, 6), "near 1 in a repeat"),
        (MORE, (0.5, 0.4, 0.6), "the opposite"),
        (MORE._replace(side="less"), (0.5, 0.4, 0.6), ""),
        (MORE._replace(side="less"), (0.95, 0.9, 1.0), "near 1 in a repeat"),
        (MORE._replace(side="less"), (1.3, 1.2, 1.4), "the opposite"),
    ],
)
def test_verdicts(claim: Claim, measured: tuple[float, ...], verdict: str) -> None:
    """A claim holds if the whole interval is on the claimed side, by more than runs of equal cases differ."""
    assert report.judge(claim, MedianEstimate(*measured)) == verdict


def test_a_busy_machine_gets_no_verdict() -> None:
    """A claim whose measurements are doubtful gets no verdict, and a line names the doubt."""
    table = report.claims(answer({MANY: 500.0}, ["other processes used 1.0 of 2 cores"]))
    assert "| 500 | 1 | 500; no verdict |" in table
    assert "DOUBTFUL: 5 of the measurements, as in the handler, 40 users: other processes used 1.0" in table


def test_the_table_of_claims() -> None:
    """The table has both figures and their ratio, with and without the claim's condition.

    It leaves out claims whose cases were not measured.
    """
    table = report.claims(answer({MANY: 500.0}))
    assert "(if as many requests as threads and connections together are under way) | 500 | 1 | 500 |" in table
    assert "| – without this condition | 1 | 1 | 1; near 1 in a repeat |" in table
    assert "max_concurrency" not in table


def test_nothing_divided_by_nothing() -> None:
    """0 divided by 0 counts as not measured; any other number divided by 0 is infinite."""
    nothing = answer({MANY: 5.0, "dependency, 100 users": 0.0, "40 connections, 100 users": 0.0})
    assert report.outcomes(nothing)[0].ratio.median == inf
    both = answer({MANY: 0.0, "dependency, 100 users": 0.0})
    assert "handler ÷ by a sync" not in report.claims(both)
    assert report.interval(MedianEstimate(nan, nan, nan)) == "–"


def test_an_answer_has_a_name() -> None:
    """An answer is found by its name; a question without an answer gives None."""
    answers = Answers(answers=[answer({})])
    assert answers.of("deadlock") is answers.answers[0]
    assert answers.of("memory") is None
