"""Tests the picture of one webhook: the counter, the stages, and what v11 does not have."""

import asyncio
import re

import pytest

from app.settings import Release
from profiles.instruments.functions import Stage
from profiles.one_webhook import picture
from profiles.one_webhook.counter import Call, Counter, Trace, without_callbacks
from profiles.one_webhook.run import trace
from profiles.one_webhook.stages import calls_by_stage


def _inner() -> None: ...


def _outer() -> None:
    _inner()
    _inner()


async def _suspended_twice() -> None:
    _outer()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    _inner()


async def _counted() -> Trace:
    counter = Counter()
    counter.start(asyncio.get_running_loop())
    await asyncio.get_running_loop().create_task(_suspended_twice())
    return counter.stop()


@pytest.fixture(scope="module")
def counted() -> Trace:
    return asyncio.run(_counted())


def test_calls_and_their_callers_are_counted(counted: Trace) -> None:
    """A resumed coroutine is no new call, and a call after the resumption has the coroutine as its caller."""
    ours = [(index, call) for index, call in enumerate(counted.calls) if call.file == __file__ and call.began]
    assert [call.function for _, call in ours] == ["_suspended_twice", "_outer", "_inner", "_inner", "_inner"]
    task, outer = ours[0][0], ours[1][0]
    assert [call.caller for _, call in ours] == [None, task, outer, outer, task]


def test_awaits_and_tasks_are_counted(counted: Trace) -> None:
    """Only the suspensions of the task are awaits: the generator below `sleep` does not count again."""
    functions = [counted.calls[index].function for index in counted.awaits]
    assert functions.count("_suspended_twice") == 2
    assert [task.coroutine for task in counted.tasks] == ["_suspended_twice"]


def test_periodic_callbacks_are_left_out() -> None:
    """The calls below the callback go with it, and the other calls keep their callers."""
    calls = [Call(None, "", "tick", True), Call(0, "", "below", True), Call(None, "", "webhook", True)]
    kept = without_callbacks(Trace([*calls, Call(2, "", "inner", True)], [0, 2], []), {("", "tick")})
    assert [(call.caller, call.function) for call in kept.calls] == [(None, "webhook"), (0, "inner")]
    assert kept.awaits == [0]


def test_a_webhook_of_v11_has_no_task_of_its_own() -> None:
    """The only task is the call to SQS, which webhooks share. Each stage has calls, and none is ASGI's."""
    found = trace(Release.V11_WITHOUT_ASGI)
    assert [task.coroutine for task in found.tasks] == ["GroupCommit._send"]
    assert {found.calls[index].function for index in found.awaits} == {"GroupCommit._send"}
    assert not [call for call in found.calls if "starlette" in call.file or "fastapi" in call.file]
    counts = calls_by_stage(found)
    assert list(counts) == list(Stage)
    assert sum(counts.values()) == len(found.calls)
    texts = set(re.findall(">([^<]+)</text>", picture.draw({"v11": found})))
    assert {*Stage, f"{len(found.calls)} calls, {len(found.awaits)} await, 1 task"} <= texts
