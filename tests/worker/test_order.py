"""The order of messages: per group on a FIFO queue, side by side otherwise."""

import asyncio
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from app.worker.in_flight_message import InFlightMessage
from app.worker.order import MessageOrder
from app.worker.received_message import ReceivedMessage


def _messages(groups: Sequence[str | None]) -> list[InFlightMessage]:
    """Returns a message for each of `groups`."""

    async def make() -> list[InFlightMessage]:
        received = [ReceivedMessage(str(number), "r", "", {}, group=group) for number, group in enumerate(groups)]
        return [InFlightMessage(one, 60) for one in received]

    return asyncio.run(make())


def _order(messages: Sequence[InFlightMessage], *, fifo: bool = True) -> MessageOrder:
    order = MessageOrder(fifo=fifo)
    for message in messages:
        order.add(message)
    return order


def _ready(order: MessageOrder) -> list[InFlightMessage]:
    found = []
    while (message := order.take()) is not None:
        found.append(message)
    return found


def test_groups_stand_side_by_side() -> None:
    """The first message of each group is ready; the next one is ready when the first is done."""
    a1, b1, a2, a3 = messages = _messages(["a", "b", "a", "a"])
    order = _order(messages)
    assert _ready(order) == [a1, b1]
    order.complete(a1)
    assert _ready(order) == [a2]
    order.complete(b1)
    order.complete(a2)
    assert _ready(order) == [a3]
    order.complete(a3)
    assert len(order) == 0


def test_a_standard_queue_has_no_order() -> None:
    """The groups of a standard queue are only for fairness."""
    messages = _messages(["a", "a", None])
    assert _ready(_order(messages, fifo=False)) == messages


def test_what_fails_holds_back_the_later_ones_of_its_group() -> None:
    a1, b1, a2, a3 = messages = _messages(["a", "b", "a", "a"])
    order = _order(messages)
    assert _ready(order) == [a1, b1]
    assert order.give_up(a1) == [a2, a3]
    assert len(order) == 0
    order.add(a1)  # received again
    assert _ready(order) == [a1]


def test_what_is_lost_while_it_waits_takes_the_later_ones_along() -> None:
    a1, a2, a3, a4 = messages = _messages(["a"] * 4)
    order = _order(messages)
    assert _ready(order) == [a1]
    assert order.give_up(a3) == [a4]
    order.complete(a1)
    assert _ready(order) == [a2]


def test_what_is_lost_before_it_begins_takes_its_group_along() -> None:
    a1, a2 = messages = _messages(["a", "a"])
    order = _order(messages)
    assert order.give_up(a1) == [a2]
    assert _ready(order) == []


@given(st.lists(st.sampled_from(["a", "b", None]), max_size=30), st.data())
def test_whatever_happens_a_group_is_in_order(groups: list[str | None], data: st.DataObject) -> None:
    """Two messages of a group are never in work together, and never in another order."""
    messages = _messages(groups)
    order, working, ended = _order(messages), [], []
    while True:
        working += _ready(order)
        busy = [message.received.group for message in working if message.received.group is not None]
        assert len(busy) == len(set(busy))
        if not working:
            break
        message = working.pop(data.draw(st.integers(0, len(working) - 1)))
        ended.append(message)
        order.complete(message)
    assert len(order) == 0
    for group in ("a", "b"):
        numbers = [int(message.received.message_id) for message in ended if message.received.group == group]
        assert numbers == sorted(numbers)
    assert sorted(ended, key=id) == sorted(messages, key=id)


def test_clearing_gives_all_that_wait() -> None:
    a1, b1, a2 = messages = _messages(["a", "b", "a"])
    order = _order(messages)
    assert order.take() is a1
    assert order.clear() == [b1, a2]
    assert len(order) == 0
