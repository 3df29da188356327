"""The table of states is complete, and says what its documentation says."""

from app.server import connection
from app.server.states import READING, TABLE, WAITS, Event, State, Wait


def test_each_state_has_a_wait_and_a_way_out() -> None:
    assert WAITS.keys() == set(State)
    for state in set(State) - {State.CLOSING}:
        assert {following for (before, _), following in TABLE.items() if before is state} - {state}
    assert {following for (before, _), following in TABLE.items() if before is State.CLOSING} == {State.CLOSING}


def test_each_state_is_reachable() -> None:
    reached, before = {State.NEW}, set[State]()
    while reached != before:
        before = set(reached)
        reached |= {following for (state, _), following in TABLE.items() if state in before}
    assert reached == set(State)


def test_only_an_owed_answer_has_no_deadline() -> None:
    """A handler bounds its own time. Every other state waits for the client."""
    assert {state for state, wait in WAITS.items() if wait is None} == {State.WORK}


def test_only_states_that_wait_for_bytes_read() -> None:
    """The server parses no further request before an answer is sent, and read by the client."""
    assert not {State.WORK, State.STALLED, State.UNREAD, State.CLOSING} & READING
    assert {
        state for (state, event) in TABLE if event in (Event.HEAD_BEGINS, Event.HEAD_ENDS, Event.BODY_ENDS)
    } == READING


def test_a_new_connection_has_one_deadline_for_its_first_head() -> None:
    assert WAITS[State.NEW] is WAITS[State.HEAD] is Wait.FOR_HEAD


def test_the_connection_s_short_names() -> None:
    """`connection` unpacks both enumerations, so the order of their members matters there."""
    assert all(getattr(connection, member.name) is member for member in (*State, *Event))
