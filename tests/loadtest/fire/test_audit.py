"""The audit, on every mixture of outcomes."""

from collections import Counter
from enum import Enum

from hypothesis import given
from hypothesis import strategies as st

from loadtest.fire.audit import audit
from loadtest.fire.traffic import digest


class Fate(Enum):
    """The outcome of a webhook: whether it got 200, and how often it is in the queue."""

    QUEUED = (True, 1)
    TWICE = (True, 2)
    LOST = (True, 0)
    LATE = (False, 1)
    REFUSED = (False, 0)


@given(st.lists(st.sampled_from(Fate)), st.integers(0, 3), st.integers(0, 3))
def test_every_outcome_is_counted(fates: list[Fate], foreign: int, unasked: int) -> None:
    """The audit counts each outcome, and passes exactly when nothing was lost, altered or invented."""
    sent = {f"ev_{number}": digest(b"body %d" % number) for number in range(len(fates))}
    accepted = [event_id for event_id, fate in zip(sent, fates, strict=True) if fate.value[0]]
    received = Counter({sent[event_id]: fate.value[1] for event_id, fate in zip(sent, fates, strict=True)})
    received = +received + Counter({digest(b"foreign %d" % number): 1 for number in range(foreign)})
    result = audit(sent, [*accepted, *(f"ev_x{number}" for number in range(unasked))], received)
    assert len(result.lost) == fates.count(Fate.LOST)
    assert result.duplicates == fates.count(Fate.TWICE)
    assert result.late == fates.count(Fate.LATE)
    assert (result.altered, result.unasked) == (foreign, unasked)
    assert result.accepted == len(accepted) + unasked
    assert result.holds is not (Fate.LOST in fates or foreign > 0 or unasked > 0)


def test_one_event_answered_twice() -> None:
    """A second 200 for one webhook stands for another one that is missing."""
    sent = {"ev_1": digest(b"1"), "ev_2": digest(b"2")}
    assert audit(sent, ["ev_1", "ev_1"], Counter(sent.values())).unasked == 1
