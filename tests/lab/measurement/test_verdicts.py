"""The verdicts on published ratios and claims."""

import runpy
import sys
from math import nan
from types import SimpleNamespace

import pytest

from lab.measurement.case_record import LabResults
from lab.measurement.questions import QUESTIONS, python_and_server_cases
from lab.report.lab_tables import verdicts
from lab.report.outcomes import Verdict, judge, outcomes, threads
from lab.report.published import PublishedComparison
from loadtest.record.price_estimate import MedianEstimate
from tests.lab.measurement.conftest import row, study


def _compared(published: float | None = None, claimed: str | None = None) -> PublishedComparison:
    pair = None if published is None else (published, 1.0)
    return PublishedComparison.model_validate(
        {"id": "a", "claim": "a", "over": "x", "under": "y", "metric": "rps", "published": pair, "claimed": claimed}
    )


@pytest.mark.parametrize(
    ("published", "low", "median", "high", "verdict"),
    [
        (3.0, 2.8, 3.1, 3.3, "reproduced"),
        (3.0, 1.2, 2.1, 2.4, "reproduced"),  # within the factor
        (3.0, 1.2, 1.9, 2.4, "weaker"),  # on the side, not within the factor
        (3.0, 5.0, 6.0, 7.0, "stronger"),
        (1.3, 0.9, 1.2, 1.4, "unclear"),  # the interval is on both sides
        (3.0, 0.7, 0.9, 1.2, "unclear"),
        (3.0, 0.7, 0.8, 0.9, "opposite"),
        (0.5, 0.4, 0.5, 0.6, "reproduced"),
        (0.5, 0.1, 0.2, 0.3, "stronger"),
        (0.5, 0.8, 0.85, 0.9, "weaker"),
        (0.5, 1.05, 1.1, 1.2, "opposite"),
        (1.02, 0.85, 1.0, 1.2, "reproduced"),  # as good as one
        (1.02, 0.7, 1.0, 1.2, "unclear"),
        (1.02, 1.4, 1.5, 1.6, "different"),
        (1.02, 0.5, 0.6, 0.7, "different"),
    ],
)
def test_a_published_ratio(published: float, low: float, median: float, high: float, verdict: Verdict) -> None:
    """The verdict follows the rule that lab.html prints."""
    assert judge(_compared(published), MedianEstimate(median, low, high)) == verdict


@pytest.mark.parametrize(
    ("claimed", "low", "median", "high", "verdict"),
    [
        ("more", 1.1, 9.0, 9.5, "reproduced"),
        ("more", 0.9, 1.1, 1.2, "unclear"),
        ("more", 0.8, 0.85, 0.9, "opposite"),
        ("less", 0.5, 0.6, 0.9, "reproduced"),
        ("less", 1.1, 1.2, 1.3, "opposite"),
        ("same", 0.9, 1.0, 1.1, "reproduced"),
        ("same", 1.5, 1.6, 1.7, "different"),
        (None, 1.5, 1.6, 1.7, None),
    ],
)
def test_a_claim_without_figures(claimed: str, low: float, median: float, high: float, verdict: Verdict) -> None:
    """A claim without figures is judged by its side alone."""
    assert judge(_compared(claimed=claimed), MedianEstimate(median, low, high)) == verdict


def test_what_was_not_measured() -> None:
    """A comparison that was not measured has no verdict."""
    assert judge(_compared(3.0), MedianEstimate(nan, nan, nan)) is None


def test_studies(lab: LabResults) -> None:
    """Study 1 with the published ratios is reproduced. The table counts the comparisons of each study by verdict."""
    three_tasks, outbound = lab.studies
    assert [outcome.verdict for outcome in outcomes(three_tasks)] == ["reproduced"] * 5
    by_name = {outcome.comparison.id: outcome.verdict for outcome in outcomes(outbound)}
    assert by_name["async to sync"] == "opposite"
    assert by_name["async to blocked"] is None  # not measured
    table = verdicts([(three_tasks, ""), (outbound, "lab.html")])
    assert "| every case | reproduced | no clear difference | the opposite |" in table
    assert "| [Study 1: three slow tasks](#three_tasks) | 5 | – | – |" in table
    assert "| [Study 2: a call that takes a second](lab.html#outbound) | – | 1 | 1 |" in table


def test_a_duet_tells_no_less_than_the_reference_beside_itself() -> None:
    """A difference counts only if it is larger than that of the reference beside itself.

    The CPU time per request is the reciprocal of the rates here. `dict` takes 1.1 times as much. That is no difference,
    because the reference took up to 1.2 times as much as itself.
    """
    figures = {"nothing again": [100.0, 90.0], "nothing beside nothing again": [110.0, 108.0]}
    figures |= {"dict": [100.0, 99.0], "nothing beside dict": [110.0, 109.0]}
    figures |= {"h11": [60.0, 61.0], "nothing beside h11": [110.0, 109.0]}
    found = {outcome.comparison.id: outcome.verdict for outcome in outcomes(study("tips", figures))}
    assert (found["noise"], found["dict"], found["h11"]) == (None, "unclear", "reproduced")


def test_repeats_are_compared_with_those_of_their_round() -> None:
    """A round in which one of the two is missing is left out, and so is one without a 200 to compare with."""
    measured = study("three_tasks", {"async_concurrent": [300.0, 30.0, 300.0], "async_independent": [100.0, 10.0]})
    gather = next(outcome for outcome in outcomes(measured) if outcome.comparison.id == "gather")
    assert gather.measured == MedianEstimate(3.0, 3.0, 3.0)
    silent = measured.rows[-1].measurement.model_copy(update={"rps": 0.0})
    rows = [*measured.rows[:-1], measured.rows[-1].model_copy(update={"measurement": silent})]
    found = outcomes(measured.model_copy(update={"rows": rows}))
    assert next(outcome for outcome in found if outcome.comparison.id == "gather").measured.median == 3.0


def test_threads_of_a_blocked_lab() -> None:
    """If the lab does not answer, the main thread counts, and the threads that were started after the lab."""
    seen = row("a", 0, 10)
    assert seen.threads is not None
    assert threads(seen) == 41
    blocked = seen.threads.model_copy(update={"python": None})
    assert threads(seen.model_copy(update={"threads": blocked})) == 42
    assert threads(seen.model_copy(update={"workers": 2})) is None


def test_no_claim_depends_on_the_python_that_renders_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents are generated from stored results, so every Python has to find the same cases in them."""
    claims = QUESTIONS["python_and_server"].claims
    monkeypatch.setattr(sys, "version_info", SimpleNamespace(major=3, minor=99))
    assert runpy.run_path(str(python_and_server_cases.__file__))["QUESTION"].claims == claims
