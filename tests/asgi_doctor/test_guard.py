"""`no_blocking` in a part of a program: the lines that it finds or allows, and loops that it cannot watch."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import uvloop

import asgi_doctor

LOOPS = [asyncio.run, uvloop.run]
BLOCK = 0.5


def _blocks() -> None:
    time.sleep(BLOCK)


@pytest.mark.parametrize("run", LOOPS, ids=["asyncio", "uvloop"])
def test_a_part_of_a_coroutine(run: Callable[[Coroutine[Any, Any, None]], None]) -> None:
    """Only lines that block inside of `with no_blocking` count, except in `allowed()`. The loop runs already."""

    async def test() -> None:
        _blocks()
        with asgi_doctor.no_blocking(0.1) as watched:
            await asyncio.sleep(0)
            with watched.allowed():
                _blocks()
        with asgi_doctor.no_blocking(0.1):
            _blocks()

    with pytest.raises(AssertionError, match=r"in _blocks blocked the event loop for .* \(limit 0\.1 s\)"):
        run(test())


def test_a_loop_that_starts_inside() -> None:
    """Code inside of `with no_blocking` may be synchronous, and start a loop."""

    async def test() -> None:
        _blocks()

    with pytest.raises(AssertionError, match="in _blocks blocked the event loop"), asgi_doctor.no_blocking(0.1):
        asyncio.run(test())


def test_no_loop_at_all() -> None:
    """`no_blocking` fails if it watches no loop, for example under trio. An error of the code inside has precedence."""
    with pytest.raises(AssertionError, match="no event loop of asyncio or uvloop has run"), asgi_doctor.no_blocking():
        pass
    with pytest.raises(KeyError), asgi_doctor.no_blocking():
        raise KeyError
