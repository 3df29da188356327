"""Finds the state of a thread or task, such as "waiting for SQS", from its stack.

The tables in this module give the state for known functions. If the stack contains several known functions, the
innermost one decides.
"""

import linecache
from collections.abc import Sequence
from enum import StrEnum


class State(StrEnum):
    IDLE = "idle"
    RUNNING = "running"
    CLIENT = "building a client"
    CAS = "loading CAs"
    CONNECTING = "connecting"
    SQS = "waiting for SQS"
    TABLE = "waiting for DynamoDB"
    CHARGEBEE = "waiting for Chargebee"
    # Only a webhook can have the following states; a thread cannot.
    TURN = "waiting for its turn"
    TOKEN = "waiting for a token"  # noqa: S105  # a state, not a password
    THREAD = "in a thread"
    BATCH = "waiting in a batch"


# In the three tables below, a key is the end of a file's path and the name of a function.
# The first table applies only to the innermost function of a thread.
_INNERMOST = {
    ("asyncio/runners.py", "run"): State.IDLE,  # the event loop waits inside uvloop, which has no Python frames
    ("selectors.py", "select"): State.IDLE,
    ("threading.py", "wait"): State.IDLE,
    ("queue.py", "get"): State.IDLE,
    ("concurrent/futures/thread.py", "_worker"): State.IDLE,
    ("local/child.py", "_wait_for_end"): State.IDLE,  # this thread waits for the end of the parent process
    ("sqs/blocking.py", "resolve"): State.SQS,  # the thread waits while another one fetches the queue's URL from SQS
}
# The second table applies to every function in a thread's stack, not only to the innermost one.
_THREADS = {
    ("socket.py", "readinto"): State.SQS,
    ("ssl.py", "do_handshake"): State.CONNECTING,
    ("urllib3/util/connection.py", "create_connection"): State.CONNECTING,
    ("sqs/blocking.py", "build_queue"): State.CLIENT,
    ("billing/blocking.py", "build_clients"): State.CLIENT,
}
# The third table applies to every coroutine in the stack of a suspended task.
_TASKS = {
    ("anyio/_backends/_asyncio.py", "acquire_on_behalf_of"): State.TOKEN,
    ("anyio/_backends/_asyncio.py", "run_sync_in_worker_thread"): State.THREAD,
    ("sqs/native.py", "send"): State.SQS,
    ("sqs/native.py", "send_batch"): State.SQS,
    ("sqs/lean.py", "send_batch"): State.SQS,
    ("sqs/group_commit.py", "send"): State.BATCH,
    ("sqs/group_commit.py", "submit"): State.BATCH,  # stands for the wait of a webhook without a task
}
_LOADS_CAS = "load_verify_locations"
# v01's clients of Chargebee and DynamoDB wait in the same function as boto3's client of SQS. The first of these files
# that occurs in a stack says for which service the thread waits.
_NOT_SQS = {"requests/sessions.py": State.CHARGEBEE, "billing/blocking.py": State.TABLE}


def state_of(line: int | None, functions: Sequence[tuple[str, str]]) -> State:
    """Returns the state of a thread or task with the given stack, which `asgi_doctor.samples` has recorded.

    `functions` are the stack's functions as (file, name), innermost first. `line` is the line number in the innermost
    function of a thread, or None for the stack of a suspended task.
    """
    return _of_task(functions) if line is None else _of_thread(line, functions)


def _of_thread(line: int, functions: Sequence[tuple[str, str]]) -> State:
    if (innermost := _find(_INNERMOST, functions[0])) is not None:
        return innermost
    if _LOADS_CAS in linecache.getline(functions[0][0], line):
        return State.CAS
    found = next((state for function in functions if (state := _find(_THREADS, function)) is not None), State.RUNNING)
    return _service(functions) if found is State.SQS else found


def _service(functions: Sequence[tuple[str, str]]) -> State:
    """Returns which service's answer a thread waits for."""
    files = [file for file, _ in functions]
    return next((state for end, state in _NOT_SQS.items() if any(file.endswith(end) for file in files)), State.SQS)


def _of_task(functions: Sequence[tuple[str, str]]) -> State:
    found = (_find(_TASKS, function) for function in functions)
    return next((state for state in found if state is not None), State.TURN)


def _find(states: dict[tuple[str, str], State], function: tuple[str, str]) -> State | None:
    file, name = function
    return next((state for (end, known), state in states.items() if name == known and file.endswith(end)), None)
