"""Tests the audit of the queue with any mixture of outcomes."""

from collections import Counter
from enum import Enum

from hypothesis import given
from hypothesis import strategies as st

from loadtest.fire.queue_audit import audit
from loadtest.fire.traffic import digest


class Outcome(Enum):
    """The possible outcomes of a webhook: whether it got 200, and how often it is in the queue."""

    QUEUED = (True, 1)
    TWICE = (True, 2)
    LOST = (True, 0)
    LATE = (False, 1)
    REFUSED = (False, 0)


@given(st.lists(st.sampled_from(Outcome)), st.integers(0, 3), st.integers(0, 3))
def test_every_outcome_is_counted(outcomes: list[Outcome], foreign: int, unasked: int) -> None:
    """The audit counts each outcome. It holds exactly if no message was lost or altered, and no 200 was unasked."""
    sent = {f"ev_{number}": digest(b"body %d" % number) for number in range(len(outcomes))}
    accepted = [event_id for event_id, outcome in zip(sent, outcomes, strict=True) if outcome.value[0]]
    received = Counter({sent[event_id]: outcome.value[1] for event_id, outcome in zip(sent, outcomes, strict=True)})
    received = +received + Counter({digest(b"foreign %d" % number): 1 for number in range(foreign)})
    result = audit(sent, [*accepted, *(f"ev_x{number}" for number in range(unasked))], received)
    assert len(result.lost) == outcomes.count(Outcome.LOST)
    assert result.duplicates == outcomes.count(Outcome.TWICE)
    assert result.late == outcomes.count(Outcome.LATE)
    assert (result.altered, result.unasked) == (foreign, unasked)
    assert result.accepted == len(accepted) + unasked
    assert result.holds is not (Outcome.LOST in outcomes or foreign > 0 or unasked > 0)


def test_one_event_answered_twice() -> None:
    """A second 200 with the same event id is unasked, because another webhook has got the wrong id."""
    sent = {"ev_1": digest(b"1"), "ev_2": digest(b"2")}
    assert audit(sent, ["ev_1", "ev_1"], Counter(sent.values())).unasked == 1
