"""The request of a callback that the watchdog has sampled."""

import asyncio
import sys
from types import FrameType

from asgi_doctor.greenlets import frames_of
from asgi_doctor.request import ENDED, NO_REQUEST, callback_of


def test_a_coroutine_that_has_ended_since_its_frame_was_read() -> None:
    """Such a coroutine has no request, even if `depth` exceeds the number of its frames, as under pytest."""
    frames: list[FrameType] = []

    async def handler() -> None:
        frames.append(sys._getframe())

    loop = asyncio.new_event_loop()
    loop.run_until_complete(handler())
    loop.close()
    depth = len(frames_of(sys._getframe()))
    assert callback_of(loop, frames_of(frames[0]), depth, (None, NO_REQUEST)) == (ENDED, NO_REQUEST)
