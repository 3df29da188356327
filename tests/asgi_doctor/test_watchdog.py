"""The watchdog names the line that blocks the event loop, and no other line."""

import asyncio
import re
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import uvloop

from app.settings import Release
from asgi_doctor.finding import Kind
from asgi_doctor.stacks import Location, Stack
from asgi_doctor.watchdog import Watchdog
from loadtest.stage.budget.budget_limits import MIB, Limits, Unavailable
from loadtest.stage.budget.cgroup_v1 import CgroupV1
from loadtest.stage.budget.cgroup_v2 import CgroupV2
from local.sample_events import fresh_events
from tests.harness.service import Service
from tests.harness.sqs_stand_in import SqsStandIn

WARN = 0.1
Run = Callable[[Coroutine[Any, Any, None]], None]
Work = Callable[[Watchdog], Coroutine[Any, Any, None]]
LOOPS: list[Run] = [asyncio.run, uvloop.run]
Found = list[tuple[Location, Stack, float]]


def _watch(run: Run, work: Work, most: int = 2) -> Watchdog:
    """Runs `work` under a watchdog, until the loop was blocked twice or `work` has run `most` times."""

    async def watched() -> None:
        with watchdog:
            for _ in range(most):
                await asyncio.create_task(work(watchdog))
                await asyncio.sleep(WARN)
                if watchdog.blocked == 2:
                    break

    watchdog = Watchdog(WARN, lambda location, stack, seconds: found.append((location, stack, seconds)))
    found: Found = []
    run(watched())
    # The callback receives each location once, although the loop was blocked twice.
    assert len(found) == len({location for location, _, _ in found}) >= len(watchdog.findings)
    assert all(seconds > WARN for _, _, seconds in found)
    return watchdog


def _burn(seconds: float) -> None:
    """Uses `seconds` of this thread's CPU time, which is the same amount of work on a busy machine."""
    started = time.thread_time()
    while time.thread_time() - started < seconds:
        pass


def _one() -> None:
    _burn(0.01)


def _other() -> None:
    _burn(0.01)


def _third() -> None:
    _burn(0.01)


def _fourth() -> None:
    _burn(0.01)


async def _sleeps(_: Watchdog) -> None:
    time.sleep(4 * WARN)  # noqa: ASYNC251  # the fault


async def _waits_in_a_library(_: Watchdog) -> None:
    subprocess.run([sys.executable, "-c", "import time; time.sleep(0.4)"], check=True)  # noqa: ASYNC221  # the fault


async def _computes(watchdog: Watchdog) -> None:
    # There are four parts, because with fewer parts, all samples could be in the same part. There must be many samples,
    # because a few samples, as on a busy machine, could be consecutive in one part, which would then be named.
    while watchdog._block is None or watchdog._block.taken < 40:
        for part in (_one, _other, _third, _fourth):
            part()


@pytest.mark.parametrize("run", LOOPS, ids=["asyncio", "uvloop"])
@pytest.mark.parametrize(
    ("work", "kind"),
    [(_sleeps, Kind.WAITS), (_waits_in_a_library, Kind.WAITS), (_computes, Kind.COMPUTES)],
    ids=lambda work: getattr(work, "__name__", ""),
)
def test_a_line_that_blocks(run: Run, work: Work, kind: Kind) -> None:
    """The watchdog names the line in the coroutine, counts each block, and distinguishes computing from waiting."""
    watchdog = _watch(run, work, most=50)
    assert watchdog.blocked == 2
    assert sum(finding.count for finding in watchdog.findings) == 2
    for finding in watchdog.findings:
        assert (Path(finding.file).resolve(), finding.function) == (Path(__file__), work.__name__)
        assert finding.seconds >= finding.longest > WARN
        assert finding.kind is kind


@pytest.mark.parametrize("run", LOOPS, ids=["asyncio", "uvloop"])
def test_a_long_match(run: Run) -> None:
    """A single call of C code keeps the interpreter lock, so the watchdog can only sample and name it at its end.

    This does not always succeed: on a busy machine, the watchdog may get a core only after the coroutine has ended.
    """

    async def matches(_: Watchdog) -> None:
        re.match(r"(a+)+$", "a" * 24 + "b")

    [finding] = _watch(run, matches, most=50).findings
    assert (finding.function, finding.kind) == ("test_a_long_match.matches", Kind.COMPUTES)


async def _waits(_: Watchdog) -> None:
    await asyncio.sleep(4 * WARN)


CALLBACKS: list[float] = []


async def _short_callbacks(_: Watchdog) -> None:
    for _number in range(40):
        began = time.monotonic()
        _burn(0.01)
        CALLBACKS.append(time.monotonic() - began)
        await asyncio.sleep(0)


async def _has_a_thread(_: Watchdog) -> None:
    await asyncio.to_thread(time.sleep, 4 * WARN)


@pytest.mark.parametrize("run", LOOPS, ids=["asyncio", "uvloop"])
@pytest.mark.parametrize("work", [_waits, _short_callbacks, _has_a_thread])
def test_a_loop_that_is_free(run: Run, work: Work) -> None:
    """A loop that waits in its selector, or computes in short callbacks, is not blocked."""
    CALLBACKS.clear()
    watchdog = _watch(run, work)
    paused = sum(seconds > WARN for seconds in CALLBACKS)  # a pause by the hypervisor looks like computing
    assert watchdog.blocked <= paused
    assert len(watchdog.findings) <= paused


def test_a_callback_without_frames() -> None:
    """A callback written in C has no Python frame, so the watchdog names the frame of the loop that calls it."""

    async def main() -> None:
        with watchdog:
            for _ in range(50):
                asyncio.get_running_loop().call_soon(time.sleep, 4 * WARN)
                await asyncio.sleep(WARN)
                if watchdog.blocked:
                    break

    watchdog = Watchdog(WARN, lambda *found: None)
    asyncio.run(main())
    [finding] = watchdog.findings
    assert finding.function == "Handle._run"


def test_the_end_of_the_loop() -> None:
    """A watchdog that is not stopped ends when the thread of the loop ends."""

    async def main() -> None:
        watchdog.__enter__()

    watchdog = Watchdog(0.01, lambda *found: None)
    asyncio.run(main())
    watchdog._thread.join(60)
    assert not watchdog._thread.is_alive()


THROTTLED = """if True:
    import asyncio, time
    from asgi_doctor.watchdog import Watchdog

    async def main():
        longest = 0
        with Watchdog(0.25, lambda *found: None) as watchdog:
            for _ in range(10):
                started, wall = time.thread_time(), time.monotonic()
                while time.thread_time() - started < 0.05:
                    pass
                longest = max(longest, time.monotonic() - wall)
                await asyncio.sleep(0)
        print(longest, watchdog.blocked, watchdog.findings)

    asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.parametrize("budget", [CgroupV1, CgroupV2])
def test_a_throttled_process(budget: type[CgroupV1] | type[CgroupV2]) -> None:
    """A callback of 50 ms takes far longer at a twentieth of a core. The limit causes this, so no line is named."""
    try:
        limited = budget(Limits(0.05, 512 * MIB))
    except Unavailable as reason:
        pytest.skip(str(reason))
    try:
        command = limited.command([sys.executable, "-c", THROTTLED], {})
        ended = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    finally:
        limited.close()
    longest, blocked = ended.stdout.split(maxsplit=2)[:2]
    assert float(longest) > 0.5
    assert blocked == "0", ended.stdout


# The watchdog in the service


def _line(file: str, code: str) -> int:
    lines = (Path(__file__).parents[2] / file).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if code in line)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("release", "action", "code", "function"),
    [
        (Release.V02_BLOCKING, "SendMessage", "_client.send_message(", "send"),
        (Release.V05_ASYNC_DEPENDENCY, "GetQueueUrl", "_client.get_queue_url(", "resolve"),
    ],
    ids=str,
)
def test_a_release_that_blocks(event: bytes, release: Release, action: str, code: str, function: str) -> None:
    """While SQS does not respond, the line in app/sqs/blocking.py is logged, once for three webhooks.

    APP_BLOCK_WARN is 1 s here, because on a slow machine with coverage, building v05's client takes longer than WARN.
    """
    with (
        SqsStandIn() as sqs,
        Service(sqs.endpoint, sqs.queue_url, release=release, block_warn=1, sqs_timeout=60, max_wait=0) as service,
    ):
        sqs.hold(action)
        place = f"app/sqs/blocking.py:{_line('app/sqs/blocking.py', code)} in BlockingQueue.{function}"
        with ThreadPoolExecutor(1) as sender:
            for number, body in enumerate(fresh_events(event, 3), 1):
                sending = sender.submit(service.post, body)
                sqs.wait_for(action, number)
                line = service.log(place=place)
                sqs.release(1)
                assert sending.result(60).status_code == 200
        service.stop()
    assert line["level"] == "WARNING"
    assert line["held_ms"] > 1000
    assert f"app/web/releases/{release.value}.py:" in line["stack"]
    assert sum(line.get("place") == place for line in service.lines) == 1


@pytest.mark.slow
@pytest.mark.parametrize("release", [release for release in Release if release >= Release.V08_NATIVE_ASYNC], ids=str)
def test_a_release_that_does_not_block(event: bytes, release: Release) -> None:
    """v08 and later log no line, although each call takes longer than APP_BLOCK_WARN.

    APP_BLOCK_WARN is 3 s here, because on a slow machine with coverage the first webhook computes for longer than WARN.
    """
    with (
        SqsStandIn() as sqs,
        Service(sqs.endpoint, sqs.queue_url, release=release, block_warn=3, sqs_timeout=60, max_wait=0) as service,
    ):
        sqs.delay = 4
        with service.client() as client:
            for body in fresh_events(event, 2):
                assert client.post("/webhooks/chargebee", content=body).status_code == 200
        assert service.stop() == 0
    assert [line for line in service.lines if "place" in line] == []


def test_off_by_default() -> None:
    """The service has no watchdog without APP_BLOCK_WARN, and does not even import its module."""
    code = (
        "import sys; from app.settings import WebSettings; from app.web.main import create_app;"
        "from app.telemetry.observers import make_observers; observers = make_observers(WebSettings(), 'POST', '/');"
        "create_app(WebSettings(), observers);"
        "print(observers.watchdog, 'asgi_doctor.watchdog' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert ended.stdout.split() == ["None", "False"]
