"""Finds the state of a thread or task, such as "waiting for SQS", from its stack.

`profiles.instruments.functions` gives the state for known functions. If the stack contains several known functions, the
innermost known function decides.
"""

import linecache
from collections.abc import Sequence

from profiles.instruments.functions import FUNCTIONS, State


def _states(column: str) -> dict[tuple[str, str], State]:
    """Returns the states in `column` of the table FUNCTIONS, by function.

    Each key is the end of a file's path, and the name of a function in this file, without its class.
    """
    return {(one.file, one.plain): state for one in FUNCTIONS if (state := getattr(one, column)) is not None}


_INNERMOST, _THREADS, _TASKS = map(_states, ("innermost", "thread", "task"))
_LOADS_CAS = "load_verify_locations"
# v01's clients of Chargebee and DynamoDB wait in the same function as boto3's client of SQS. If one of these files is
# in the stack, the thread has the file's state. If both files are in the stack, the first file of the dict decides.
_NOT_SQS = {"requests/sessions.py": State.CHARGEBEE, "billing/inline_clients.py": State.TABLE}


def state_of(line: int | None, functions: Sequence[tuple[str, str]]) -> State:
    """Returns the state of a thread or task with the given stack, which `profiles.instruments.samples` has recorded.

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
    """Returns the state of a thread that waits for an answer of SQS, DynamoDB or Chargebee."""
    files = [file for file, _ in functions]
    return next((state for end, state in _NOT_SQS.items() if any(file.endswith(end) for file in files)), State.SQS)


def _of_task(functions: Sequence[tuple[str, str]]) -> State:
    found = (_find(_TASKS, function) for function in functions)
    return next((state for state in found if state is not None), State.TURN)


def _find(states: dict[tuple[str, str], State], function: tuple[str, str]) -> State | None:
    file, name = function
    return next((state for (end, known), state in states.items() if name == known and file.endswith(end)), None)
