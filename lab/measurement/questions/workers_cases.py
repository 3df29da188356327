"""Compares one process with four (uvicorn, gunicorn, pods), and counts the requests that a killed process cuts off."""

import asyncio
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import uvloop

from asgi_doctor.cgroup import Throttling, cpu_stat, throttling
from lab.measurement.case_users import crowd
from lab.measurement.expected_answers import Claim, Figures, Ratio
from lab.measurement.question import Question
from lab.measurement.stage import Served, Stage, uvicorn
from loadtest.stage.tree import tree

USERS, SECONDS = 16, 4
CALM_USERS, PAUSE_S = 4, 0.3  # these users need a bit less than half of the CPU
ANSWERS, MEMORY = "answers a second, saturated", "MiB"
P50, P99 = "p50 ms of long requests, calm", "p99 ms of long requests, calm"
STOPPED, CUT = "periods it was stopped in, calm, %", "requests of 16 that a kill cuts off"
GUNICORN = [
    *("sh", "-c", 'exec "$0" -m gunicorn --bind "127.0.0.1:$PORT" --workers 4 --worker-class "$1" "$2"'),
    *(sys.executable, "uvicorn_worker.UvicornWorker", "lab.questions.workers:app"),
]
Start = Callable[[Stage, ExitStack], list[Served]]


def _one(stage: Stage, stack: ExitStack, *options: str) -> list[Served]:
    return [stack.enter_context(stage.serve(uvicorn("workers", *options), "burst"))]


def _gunicorn(stage: Stage, stack: ExitStack) -> list[Served]:
    return [stack.enter_context(stage.serve(GUNICORN, "burst", port="PORT"))]


def _pods(stage: Stage, stack: ExitStack) -> list[Served]:
    return [stack.enter_context(stage.serve(uvicorn("workers"), "capped")) for _ in range(4)]


def _measured(stage: Stage, start: Start) -> Figures:
    with ExitStack() as stack:
        served = start(stage, stack)
        urls = [one.url for one in served]
        uvloop.run(crowd([f"{url}/compute" for url in urls], USERS, 0.5))
        full = uvloop.run(crowd([f"{url}/compute" for url in urls], USERS, stage.seconds(SECONDS)))
        before = _throttled(served)
        reports = [f"{url}/report" for url in urls]
        calm = uvloop.run(crowd(reports, CALM_USERS, stage.seconds(SECONDS), pause=PAUSE_S))
        periods, stopped = (after - first for after, first in zip(_throttled(served), before, strict=True))
        memory = sum(one.mib() for one in served)
        cut = uvloop.run(crowd([f"{url}/wait" for url in urls], USERS, 3, method="POST", beside=_kill(served[0]))).cut
    figures = {ANSWERS: full.per_second, P50: calm.percentile(50), P99: calm.percentile(99), MEMORY: memory, CUT: cut}
    return figures | ({STOPPED: 100 * stopped / periods} if periods else {})


def _throttled(served: list[Served]) -> tuple[int, int]:
    """Returns the number of scheduling periods, and the number of those in which the CPU limit stopped a process.

    Both are 0 if there is no limit.
    """
    found = [throttling(cpu_stat(Path(f"/proc/{one.pid}"))) or Throttling(0, 0, 0) for one in served]
    return sum(one.periods for one in found), sum(one.throttled_periods for one in found)


async def _kill(served: Served) -> None:
    """Sends SIGKILL, as the kernel does when memory is full, to the process with the most connections."""
    await asyncio.sleep(0.5)
    busiest = await asyncio.to_thread(max, tree(served.pid), key=lambda one: len(one.net_connections("tcp")))
    busiest.send_signal(signal.SIGKILL)


ONE, UVICORN, GUNICORNS, PODS = "one process", "uvicorn --workers 4", "gunicorn --workers 4", "four of a quarter CPU"
QUESTION = Question(
    title="Four workers on one CPU, and four quarters of a CPU",
    asked="fastapi#1484, #1727 and #2227, uvicorn#303",
    here=f"{USERS} users, each request computes for 2 to 5 ms; then, without saturation, {CALM_USERS} users with"
    " pauses, and requests that are 11 times as long; a limit of one CPU in all",
    figure=P50,
    cases={
        ONE: partial(_measured, start=_one),
        UVICORN: lambda stage: _measured(stage, lambda stage, stack: _one(stage, stack, "--workers", "4")),
        GUNICORNS: partial(_measured, start=_gunicorn),
        PODS: partial(_measured, start=_pods),
    },
    claims=(
        Claim("answers a second: four workers of uvicorn ÷ one process", Ratio(ANSWERS, UVICORN, ONE)),
        Claim("answers a second: four workers of gunicorn ÷ one process", Ratio(ANSWERS, GUNICORNS, ONE)),
        Claim("memory: four workers of uvicorn ÷ one process", Ratio(MEMORY, UVICORN, ONE)),
        Claim("median of a long request, unsaturated: four quarters of a CPU ÷ one CPU", Ratio(P50, PODS, ONE)),
        Claim("requests that a kill cuts off: one process ÷ four quarters", Ratio(CUT, ONE, PODS)),
    ),
)
