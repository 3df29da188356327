"""Tests what the studies measure, and what their results are compared with."""

import pytest

from lab.measurement import duets
from lab.measurement.case_run import QUICK_SECONDS, QUICK_USERS, Plan
from lab.measurement.studies import STUDIES
from lab.report.published import PUBLISHED, REASONS


def _names(study: str) -> list[str]:
    names = [case.name for case in STUDIES[study]()]
    if study == "tips":
        for reference, others in duets.GROUPS:
            for name in (f"{reference.name} again", *(case.name for case in others)):
                names += [name, f"{reference.name} beside {name}"]
    return names


def test_each_study_has_published_figures_or_claims() -> None:
    """published.json has an entry for each study, in the same order, and no other entry."""
    assert list(PUBLISHED) == list(STUDIES)


@pytest.mark.parametrize("study", STUDIES)
def test_what_is_compared_is_measured(study: str) -> None:
    """Names of cases are unique, and every comparison names two of them."""
    names = _names(study)
    assert len(names) == len(set(names))
    for comparison in PUBLISHED[study].comparisons:
        assert {comparison.over, comparison.under} <= set(names), comparison.id


@pytest.mark.parametrize("study", STUDIES)
def test_comparisons_have_names_of_their_own(study: str) -> None:
    """A reason is found by the id of its comparison, and there is no reason without a comparison."""
    ids = [comparison.id for comparison in PUBLISHED[study].comparisons]
    assert len(ids) == len(set(ids))
    assert set(REASONS.get(study, {})) <= set(ids)
    assert set(REASONS) <= set(PUBLISHED)


@pytest.mark.parametrize("study", STUDIES)
def test_a_trial_run_is_short(study: str) -> None:
    """A trial run has at most four cases of a second, none of them on a quarter of a core, where a start takes long."""
    cases = Plan(repeats=1, quick=True, scale=0.001).cases(study)
    assert len(cases) <= 4
    for case in cases:
        assert (case.load.duration_s, case.budget) in {(QUICK_SECONDS, "none"), (QUICK_SECONDS, "burst")}
        assert (case.load.users or 0) <= QUICK_USERS
        assert int(case.query.get("ms", 0)) <= 100


def test_the_published_loads() -> None:
    """A case has as many users as published, if the machine can have them, and as many workers."""
    loads = {case.name: (case.load.users, case.workers) for study in STUDIES.values() for case in study()}
    assert loads["async_concurrent"] == (500, 2)
    assert loads["async_sync_client, new client"] == (500, 1)
    assert loads["sync_select, 4 workers"] == (100, 4)
    assert loads["async, fib 30, 2 workers"] == (31, 2)
