"""What a thread or a task is doing, read from its stack: the deepest function that is listed here decides."""

import asyncio
import linecache
from collections.abc import Iterator
from enum import StrEnum
from types import CodeType, FrameType
from typing import Any


class State(StrEnum):
    IDLE = "idle"
    RUNNING = "running"
    CLIENT = "building a client"
    CAS = "loading CAs"
    CONNECTING = "connecting"
    SQS = "waiting for SQS"
    TABLE = "waiting for DynamoDB"
    CHARGEBEE = "waiting for Chargebee"
    # Of webhooks only.
    TURN = "waiting for its turn"
    TOKEN = "waiting for a token"  # noqa: S105  # not a password
    THREAD = "in a thread"
    BATCH = "waiting in a batch"


# By the end of the file's path and the function's name. These hold for a thread whose innermost function it is:
_INNERMOST = {
    ("asyncio/runners.py", "run"): State.IDLE,  # inside uvloop, which has no Python frames
    ("selectors.py", "select"): State.IDLE,
    ("threading.py", "wait"): State.IDLE,
    ("queue.py", "get"): State.IDLE,
    ("concurrent/futures/thread.py", "_worker"): State.IDLE,
    ("sqs/blocking.py", "resolve"): State.SQS,  # for the thread that asks for the URL
}
# these wherever they are in a thread's stack:
_THREADS = {
    ("socket.py", "readinto"): State.SQS,
    ("ssl.py", "do_handshake"): State.CONNECTING,
    ("urllib3/util/connection.py", "create_connection"): State.CONNECTING,
    ("sqs/blocking.py", "build_queue"): State.CLIENT,
    ("billing/blocking.py", "build_billing"): State.CLIENT,
    ("httpcore/_backends/sync.py", "read"): State.CHARGEBEE,  # its SDK uses httpx
    ("httpcore/_backends/sync.py", "connect_tcp"): State.CONNECTING,
}
# and these in the chain of coroutines of a suspended webhook.
_TASKS = {
    ("anyio/_backends/_asyncio.py", "acquire_on_behalf_of"): State.TOKEN,
    ("anyio/_backends/_asyncio.py", "run_sync_in_worker_thread"): State.THREAD,
    ("sqs/native.py", "send"): State.SQS,
    ("sqs/native.py", "send_batch"): State.SQS,
    ("sqs/lean.py", "send_batch"): State.SQS,
    ("sqs/group_commit.py", "send"): State.BATCH,
}
_LOADS_CAS = "load_verify_locations"
# boto3 waits in the same place for either.
_TABLE = "billing/blocking.py"


def of_thread(frame: FrameType) -> State:
    """Of a thread whose innermost frame is `frame`."""
    if (innermost := _find(_INNERMOST, frame.f_code)) is not None:
        return innermost
    line: int | None = frame.f_lineno  # None between two lines
    if line is not None and _LOADS_CAS in linecache.getline(frame.f_code.co_filename, line):
        return State.CAS
    outer: FrameType | None = frame
    while outer is not None:
        if (found := _find(_THREADS, outer.f_code)) is not None:
            return State.TABLE if found is State.SQS and _is_below(outer, _TABLE) else found
        outer = outer.f_back
    return State.RUNNING


def _is_below(frame: FrameType | None, file: str) -> bool:
    """Whether a function of `file` has called it."""
    while frame is not None:
        if frame.f_code.co_filename.endswith(file):
            return True
        frame = frame.f_back
    return False


def of_task(task: "asyncio.Task[Any]") -> State:
    """Of a task that is not the one that its loop runs."""
    awaited: asyncio.Future[Any] | None = getattr(task, "_fut_waiter", None)
    if awaited is None or awaited.done():
        return State.TURN
    states = [found for coroutine in coroutines(task) if (found := _find(_TASKS, coroutine.cr_code)) is not None]
    return states[-1] if states else State.TURN


def coroutines(task: "asyncio.Task[Any]") -> Iterator[Any]:
    """From the outermost one inwards, as far as each awaits another one."""
    awaited: Any = task.get_coro()
    while hasattr(awaited, "cr_code"):
        yield awaited
        awaited = awaited.cr_await


def _find(states: dict[tuple[str, str], State], code: CodeType) -> State | None:
    for (file, function), state in states.items():
        if code.co_name == function and code.co_filename.endswith(file):
            return state
    return None
