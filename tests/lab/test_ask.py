"""The questions as they are defined. The tests of docs/questions ask them."""

from lab.measurement.questions import QUESTIONS


def test_every_claim_is_about_cases_that_are_measured() -> None:
    """A claim compares figures that the picture or the table shows."""
    for question in QUESTIONS.values():
        named = {
            case
            for claim in question.claims
            for ratio in (claim.ratio, claim.unless or claim.ratio)
            for case in ratio[1:]
        }
        assert named <= set(question.cases)
        assert set(question.quick) <= set(question.cases)
