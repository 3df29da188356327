"""The order of messages: per group on a FIFO queue, side by side otherwise."""

import asyncio
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from app.worker.held import Held
from app.worker.order import Order
from app.worker.received import Received


def _held(groups: Sequence[str | None]) -> list[Held]:
    """A message of each of `groups`."""

    async def make() -> list[Held]:
        return [
            Held(Received(str(number), str(number), "", {}, group=group), 60) for number, group in enumerate(groups)
        ]

    return asyncio.run(make())


def _order(messages: Sequence[Held], *, fifo: bool = True) -> Order:
    order = Order(fifo=fifo)
    for held in messages:
        order.add(held)
    return order


def _ready(order: Order) -> list[Held]:
    found = []
    while (held := order.take()) is not None:
        found.append(held)
    return found


def test_groups_stand_side_by_side() -> None:
    """The first of each group is ready; the next one when that is done."""
    a1, b1, a2, a3 = messages = _held(["a", "b", "a", "a"])
    order = _order(messages)
    assert _ready(order) == [a1, b1]
    order.done(a1)
    assert _ready(order) == [a2]
    order.done(b1)
    order.done(a2)
    assert _ready(order) == [a3]
    order.done(a3)
    assert len(order) == 0


def test_a_standard_queue_has_no_order() -> None:
    """Its groups are for fairness alone."""
    messages = _held(["a", "a", None])
    assert _ready(_order(messages, fifo=False)) == messages


def test_what_fails_holds_back_the_later_ones_of_its_group() -> None:
    a1, b1, a2, a3 = messages = _held(["a", "b", "a", "a"])
    order = _order(messages)
    assert _ready(order) == [a1, b1]
    assert order.give_up(a1) == [a2, a3]
    assert len(order) == 0
    order.add(a1)  # received again
    assert _ready(order) == [a1]


def test_what_is_lost_while_it_waits_takes_the_later_ones_along() -> None:
    a1, a2, a3, a4 = messages = _held(["a"] * 4)
    order = _order(messages)
    assert _ready(order) == [a1]
    assert order.give_up(a3) == [a4]
    order.done(a1)
    assert _ready(order) == [a2]


def test_what_is_lost_before_it_begins_takes_its_group_along() -> None:
    a1, a2 = messages = _held(["a", "a"])
    order = _order(messages)
    assert order.give_up(a1) == [a2]
    assert _ready(order) == []


@given(st.lists(st.sampled_from(["a", "b", None]), max_size=30), st.data())
def test_whatever_happens_a_group_is_in_order(groups: list[str | None], data: st.DataObject) -> None:
    """Never two of a group at a time, and never a later one before an earlier one."""
    messages = _held(groups)
    order, working, ended = _order(messages), [], []
    while True:
        working += _ready(order)
        busy = [held.received.group for held in working if held.received.group is not None]
        assert len(busy) == len(set(busy))
        if not working:
            break
        held = working.pop(data.draw(st.integers(0, len(working) - 1)))
        ended.append(held)
        order.done(held)
    assert len(order) == 0
    for group in ("a", "b"):
        numbers = [int(held.received.message_id) for held in ended if held.received.group == group]
        assert numbers == sorted(numbers)
    assert sorted(ended, key=id) == sorted(messages, key=id)


def test_clearing_gives_all_that_wait() -> None:
    a1, b1, a2 = messages = _held(["a", "b", "a"])
    order = _order(messages)
    assert order.take() is a1
    assert order.clear() == [b1, a2]
    assert len(order) == 0
