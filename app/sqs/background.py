"""Blocking calls for which neither the event loop nor the interpreter waits when the process ends."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

Result = TypeVar("Result")


async def in_background(call: Callable[[], Result]) -> Result:
    """Returns what `call` returns, or raises what it raises; `call` runs in a daemon thread of its own.

    A closing event loop waits for the threads of `asyncio.to_thread`: with an SQS that does not answer, until botocore
    gives up.
    """
    return await _started(call)


def _started(call: Callable[[], Result]) -> "asyncio.Future[Result]":
    future: Future[Result] = Future()
    future.set_running_or_notify_cancel()  # from here on, a cancelled caller does not cancel it
    threading.Thread(target=_run, args=[call, future], daemon=True).start()
    return asyncio.wrap_future(future)


def _run(call: Callable[[], Result], future: Future[Result]) -> None:
    try:
        future.set_result(call())
    except Exception as error:
        future.set_exception(error)
    finally:
        del future  # the error's traceback has this frame: a cycle would outlive the call
