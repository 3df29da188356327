"""Users of one process and of four, by whatever starts them; and what a kill of one process cuts off."""

import asyncio
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import uvloop

from asgi_doctor.cgroup import Throttling, cpu_stat, throttling
from lab.measurement.answers import Claim, Figures, Ratio
from lab.measurement.question import Question
from lab.measurement.stage import Served, Stage, uvicorn
from lab.measurement.users import crowd
from loadtest.stage.tree import tree

USERS, SECONDS = 16, 4
ANSWERS, P99, MEMORY = "answers a second", "p99 ms", "MiB"
STOPPED, CUT = "periods it was stopped in, %", "requests of 16 that a kill cuts off"
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
        before = _throttled(served)
        seen = uvloop.run(crowd([f"{url}/compute" for url in urls], USERS, stage.seconds(SECONDS)))
        periods, stopped = (after - first for after, first in zip(_throttled(served), before, strict=True))
        memory = sum(one.mib() for one in served)
        cut = uvloop.run(crowd([f"{url}/wait" for url in urls], USERS, 1, fresh=True, beside=_kill(served[0]))).cut
    figures = {ANSWERS: seen.per_second, P99: seen.percentile(99), MEMORY: memory, CUT: float(cut)}
    return figures | ({STOPPED: 100 * stopped / periods} if periods else {})


def _throttled(served: list[Served]) -> tuple[int, int]:
    """Periods, and those in which the CPU limit stopped a process; zeros where there is no limit."""
    found = [throttling(cpu_stat(Path(f"/proc/{one.pid}"))) or Throttling(0, 0, 0) for one in served]
    return sum(one.periods for one in found), sum(one.throttled_periods for one in found)


async def _kill(served: Served) -> None:
    """SIGKILL for the process that answers, or the last of several, as the kernel does when memory is full."""
    await asyncio.sleep(0.5)
    list(tree(served.pid))[-1].send_signal(signal.SIGKILL)


ONE, UVICORN, GUNICORNS, PODS = "one process", "uvicorn --workers 4", "gunicorn --workers 4", "four of a quarter CPU"
QUESTION = Question(
    title="Four workers on one CPU, and four quarters of a CPU",
    asked="fastapi#1484, #1727 and #2227, uvicorn#303",
    here=f"{USERS} users for {SECONDS} s, a request computes for some 5 ms; one CPU in all, as a hard limit",
    figure=P99,
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
        Claim("99th percentile: four quarters of a CPU ÷ one CPU", Ratio(P99, PODS, ONE)),
        Claim("requests that a kill cuts off: one process ÷ four quarters", Ratio(CUT, ONE, PODS)),
    ),
)
