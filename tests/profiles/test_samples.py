"""How a timeline stores its samples."""

import asyncio
import sys
from collections.abc import Hashable

from profiles.instruments.samples import StackSpans, StackTable


def test_samples_become_spans() -> None:
    """Equal samples in a row become one span. A span ends when a sample has another stack, or none."""
    spans = StackSpans()
    samples: list[dict[Hashable, int]] = [{"a": 1}, {"a": 1, "b": 2}, {"a": 3}, {}]
    for now, stacks in enumerate(samples):
        spans.add(now, stacks)
    assert spans.closed == {"a": [(0, 2, 1), (2, 3, 3)], "b": [(1, 2, 2)]}


def test_a_stack_is_kept_once() -> None:
    """The stack of a thread begins with the innermost function; a task that is ready to run has no functions."""

    async def outer(inside: "asyncio.Future[None]") -> None:
        await inner(inside)

    async def inner(inside: "asyncio.Future[None]") -> None:
        await inside

    async def tasks() -> list[int]:
        inside = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(outer(inside))
        await asyncio.sleep(0)
        numbers = [stacks.of_task(task), stacks.of_task(task)]
        inside.set_result(None)
        return [*numbers, stacks.of_task(task)]

    stacks = StackTable()
    assert stacks.of_thread(sys._getframe()) == 0
    assert asyncio.run(tasks()) == [1, 1, 2]
    line, functions = stacks.seen[0]
    assert line
    assert functions[0] == (__file__, "test_a_stack_is_kept_once")
    assert [(line, [name for _, name in functions]) for line, functions in stacks.seen[1:]] == [
        (None, ["inner", "outer"]),
        (None, []),
    ]
