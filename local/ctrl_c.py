"""Ends commands and coroutines in an orderly way after Ctrl-C, SIGTERM, or the end of the terminal (SIGHUP)."""

import asyncio
import signal
from collections.abc import Coroutine
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")


def end_like_ctrl_c() -> None:
    """Makes SIGTERM and SIGHUP raise KeyboardInterrupt, so that `with` blocks stop processes and remove files.

    A signal that is already ignored stays ignored, as SIGHUP is under nohup.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Raises KeyboardInterrupt. From then on, SIGHUP has no effect.

    When a terminal closes, the shell sends SIGHUP, and then the kernel sends a second SIGHUP. The second signal would
    interrupt the clean-up.
    """
    if signal.getsignal(signal.SIGHUP) is _interrupt:  # keeps nohup's SIG_IGN, which children must inherit
        signal.signal(signal.SIGHUP, _ignore)
    raise KeyboardInterrupt


def _ignore(number: int, frame: FrameType | None) -> None:
    """Does nothing. Unlike SIG_IGN, this handler is not inherited by child processes."""


def run(main: Coroutine[Any, Any, T]) -> T:
    """Runs `main` like `asyncio.run`. The first Ctrl-C cancels `main`. Until `main` ends, later Ctrl-Cs have no effect.

    `asyncio.run` alone would raise KeyboardInterrupt at the second Ctrl-C, inside the callback that happens to run. If
    this callback belonged to a TaskGroup, the group would wait forever.

    After Ctrl-C, raises KeyboardInterrupt when `main` has ended. If `end_like_ctrl_c` was called before, SIGTERM and
    SIGHUP have the same effect as Ctrl-C.
    """
    interrupted = asyncio.Event()
    also = (signal.SIGTERM, signal.SIGHUP)
    alike = [signal.SIGINT, *(one for one in also if signal.getsignal(one) is _interrupt)]

    async def interruptible() -> T:
        task = asyncio.current_task()
        assert task is not None

        def interrupt() -> None:
            if not interrupted.is_set():
                interrupted.set()
                task.cancel()

        for number in alike:
            asyncio.get_running_loop().add_signal_handler(number, interrupt)
        return await main

    try:
        result = asyncio.run(interruptible())
        if interrupted.is_set():  # the signal arrived after `main` had ended, or `main` has caught the cancellation
            raise KeyboardInterrupt
        return result
    except asyncio.CancelledError:
        if interrupted.is_set():
            raise KeyboardInterrupt from None
        raise
    finally:
        # Sets the handlers of SIGTERM and SIGHUP again, because the event loop has reset them to the defaults.
        for number in alike[1:]:
            before_the_loop = signal.getsignal(number) is _ignore  # `_interrupt` ran before the loop set its handlers
            over = number == signal.SIGHUP and (interrupted.is_set() or before_the_loop)
            signal.signal(number, _ignore if over else _interrupt)
