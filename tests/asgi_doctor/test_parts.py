"""A block is divided among the lines that share it."""

import itertools
import random
import selectors
from collections.abc import Sequence

import pytest

from asgi_doctor.block import Block, Sample
from asgi_doctor.parts import divided
from asgi_doctor.request import NO_REQUEST, Request
from asgi_doctor.stacks import Location, Stack

MIDDLEWARE = Location("/shop/middleware.py", 5, "Middleware.__call__")
USER = Location("/shop/users.py", 7, "user")
PAY = Location("/shop/main.py", 10, "pay")
PARSE = Location("/shop/parse.py", 20, "parse")
PACKAGE = Location("/venv/lib/python3.11/site-packages/requests/api.py", 50, "get")
SELECT = Location(selectors.__file__, 40, "select")
FROZEN = Location("<frozen importlib._bootstrap>", 60, "_find_and_load")
OTHER_LINE = PAY._replace(line=11)
INTERVAL = 0.02


def _block(samples: Sequence[Stack], request: Request = NO_REQUEST, computing: float = 1.0) -> Block:
    """Returns a block with these samples, which are more frequent in the first 0.05 s, as with the watchdog.

    `computing`: the share of CPU time in the block's time.
    """
    block = Block("task", request, began=10.0)
    for index, stack in enumerate(samples):
        seconds = INTERVAL / 4 if index < 10 else INTERVAL
        block.add(Sample(stack, seconds, seconds * computing, 0.0))
    block.lasts_until(10.0 + sum(sample.seconds for sample in block.samples))
    return block


@pytest.mark.parametrize(
    ("samples", "named"),
    [
        pytest.param([(PAY, PACKAGE, SELECT)] * 3, PAY, id="libraries are not named"),
        pytest.param([(PACKAGE, PAY, PARSE, FROZEN)], PARSE, id="the innermost one of the app, one sample"),
        pytest.param([(PACKAGE, SELECT)] * 2 + [(PACKAGE,)], SELECT, id="none of the app"),
        pytest.param([(PACKAGE, SELECT)] * 4 + [(PAY, PACKAGE)], PAY, id="the app before libraries"),
        pytest.param([(PAY, PARSE), (PAY, USER), (PAY,)] * 3, PAY, id="what all samples share"),
        pytest.param([(PAY, PARSE)] * 7 + [(PAY, USER)], PARSE, id="where nearly all of it is"),
        pytest.param([(PAY,), (OTHER_LINE,), (OTHER_LINE,)], OTHER_LINE, id="lines"),
        pytest.param([(PAY,), (PARSE,), (PARSE,)], PARSE, id="two callbacks"),
    ],
)
def test_one_line(samples: list[Stack], named: Location) -> None:
    """A block of few samples has one part: the app's innermost line in most samples, and a stack with this line."""
    [part] = divided(_block(samples), INTERVAL)
    assert part.location == named
    assert named in part.stack
    assert part.stack in samples


@pytest.mark.parametrize("above", [(), (MIDDLEWARE,), (MIDDLEWARE, MIDDLEWARE._replace(function="Other.__call__"))])
@pytest.mark.parametrize("computing", [0.0, 1.0])
@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.3, 0.7), (0.8, 0.2), (0.3, 0.3, 0.4)])
def test_lines_one_after_the_other(above: Stack, shares: tuple[float, ...], computing: float) -> None:
    """Each line gets its own time, below any number of middlewares."""
    lines, samples = (USER, PAY, OTHER_LINE), list[Stack]()
    for line, ends in zip(lines, itertools.accumulate(0.4 * share for share in shares), strict=False):
        while sum(INTERVAL / 4 if index < 10 else INTERVAL for index in range(len(samples))) < ends:
            samples.append((*above, line, PACKAGE))
    parts = {part.location: part for part in divided(_block(samples, computing=computing), INTERVAL)}
    whole = sum(part.seconds for part in parts.values())
    assert [parts[line].seconds / whole for line in lines[: len(shares)]] == pytest.approx(shares, abs=0.05)
    assert all(part.variance > 0 for part in parts.values())


@pytest.mark.parametrize("seed", range(5))
def test_functions_in_a_loop(seed: int) -> None:
    """Functions that a loop calls in turn are sampled in random order. They become one part: the loop's line."""
    random.seed(seed)
    samples = random.choices([(PAY, PARSE), (PAY, USER), (PAY,)], k=40)  # noqa: S311
    [part] = divided(_block(samples), INTERVAL)
    assert part.location == PAY


def test_waits_in_a_loop() -> None:
    """A line that waits is named, even if a loop calls several such lines, and even if each has only one sample."""
    lines = [(PAY, USER), (PAY, PARSE), (OTHER_LINE,)]
    for samples in (lines, lines * 10):
        parts = divided(_block(samples, computing=0.0), INTERVAL)
        assert {part.location for part in parts} == {USER, PARSE, OTHER_LINE}


def test_many_lines_that_wait() -> None:
    """A block of many lines has a part, although each line takes only a small share."""
    samples = [(PAY._replace(line=line),) for line in range(1, 31)]
    assert divided(_block(samples, computing=0.0), INTERVAL)


def test_two_calls_of_one_function() -> None:
    """A line that is called twice has the time of both calls."""
    samples = [(USER, PARSE)] * 20 + [(PAY, PARSE)] * 20
    [part] = divided(_block(samples), INTERVAL)
    assert part.location == PARSE


def test_two_calls_that_keep_the_lock() -> None:
    """Two regular expressions have only one sample each, but the samples are long, so both lines are named."""
    block = Block("task", NO_REQUEST, began=10.0)
    for line in (USER, PAY):
        block.add(Sample((MIDDLEWARE, line), 0.3, 0.3, 0.0))
    block.lasts_until(10.6)
    assert {part.location for part in divided(block, INTERVAL)} == {USER, PAY}


def test_a_large_response() -> None:
    """The endpoint's `def` gets the time of the framework's serialisation. The endpoint's own line gets the rest."""
    routing = Location("/venv/lib/python3/site-packages/fastapi/routing.py", 369, "serialize_response")
    encoder = Location("/venv/lib/python3/site-packages/fastapi/encoders.py", 129, "jsonable_encoder")
    request = Request({"path": "/rows", "endpoint": test_a_large_response}, None)
    calls, serialises = (routing, PAY), (routing, encoder)
    [part] = divided(_block([calls] * 4 + [serialises] * 20, request), INTERVAL)
    assert (part.location, part.stack) == (request.endpoint, (request.endpoint, routing, encoder))
    first, second = divided(_block([calls] * 20 + [serialises] * 15, request), INTERVAL)
    assert {first.location, second.location} == {request.endpoint, PAY}
