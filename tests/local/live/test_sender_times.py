"""Tests the times that the page's sender measures."""

import pytest

from local.live.firing import Answer
from local.live.live_tally import Tally
from local.live.sender_times import SenderTimes


def test_the_last_two_moments_and_all() -> None:
    """`recent` forgets the answers before the last two calls, `overall` forgets none, and both are within 6 %."""
    times = SenderTimes()
    for seconds in [0.1] * 98 + [3.0] * 2:
        times.observe(seconds)
    both = pytest.approx({"sender_p50": 100, "sender_p99": 3000}, rel=0.06)
    assert [times.recent(), times.recent()] == [both, both]
    assert times.recent() == {}
    assert times.overall() == pytest.approx({"p50": 100, "p99": 3000}, rel=0.06)


@pytest.mark.anyio
async def test_only_answers_have_a_time() -> None:
    """A webhook without an answer counts as sent, and has no response time."""
    tally = Tally()
    for answer in (Answer(503, 0.2), Answer(0, 60.0)):

        async def post(body: bytes, answer: Answer = answer) -> Answer:
            return answer

        assert await tally.counting(post)(b"") == answer
    shown = tally.shown()
    assert (shown["sent"], shown["answers"]) == (2, {0: 1, 503: 1})
    assert shown["p99"] == pytest.approx(200, rel=0.06)
