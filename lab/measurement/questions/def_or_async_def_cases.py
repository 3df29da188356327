"""Measures each kind of work under a hundred users, once for each way to run the work."""

from functools import partial
from itertools import product

from lab.measurement.case_users import watch
from lab.measurement.expected_answers import Claim, Figures, Ratio
from lab.measurement.question import Question
from lab.measurement.stage import Stage, uvicorn
from lab.questions.def_or_async_def import WAIT_MS

USERS, SECONDS = 100, 4
PROCESSES_START_S = 2.5
ANSWERS = "answers a second"
WORK = {
    "nothing": "nothing",
    "awaits": "I/O, async client",
    "blocks": "I/O, sync client",
    "computes": "CPU",
    "both": "I/O and CPU",
}
WAYS = {"def": "def", "async": "async def", "thread": "thread", "process": "process"}
CELLS = [(work, way) for work, way in product(WORK, WAYS) if (work, way) != ("awaits", "process")]


def _measured(stage: Stage, work: str, way: str) -> Figures:
    with stage.serve(uvicorn("def_or_async_def", "--timeout-graceful-shutdown", "1")) as app:
        watch(f"{app.url}/{way}/{work}", 10, PROCESSES_START_S if way == "process" else 0.5)
        seen = watch(f"{app.url}/{way}/{work}", USERS, stage.seconds(SECONDS))
    return {ANSWERS: seen.per_second, "p99 ms": seen.percentile(99)}


def case(work: str, way: str) -> str:
    return f"{WORK[work]}: {WAYS[way]}"


def _claim(text: str, work: str, over: str, under: str) -> Claim:
    return Claim(text, Ratio(ANSWERS, case(work, over), case(work, under)))


QUESTION = Question(
    title="def or async def",
    asked="every thread about FastAPI's performance",
    here=f"{USERS} users for {SECONDS} s; I/O waits {WAIT_MS} ms, CPU is 2 to 5 ms; 40 threads, two processes",
    figure=ANSWERS,
    cases={case(work, way): partial(_measured, work=work, way=way) for work, way in CELLS},
    quick=tuple(case(work, way) for work in ("awaits", "blocks") for way in ("def", "async")),
    claims=(
        _claim("nothing to do: `async def` ÷ `def`", "nothing", "async", "def"),
        _claim("I/O with an async client: `async def` ÷ `def`", "awaits", "async", "def"),
        _claim("I/O with a sync client: `def` ÷ `async def`", "blocks", "def", "async"),
        _claim("CPU: a process ÷ `def`", "computes", "process", "def"),
        _claim("CPU: a thread ÷ `async def`", "computes", "thread", "async"),
        _claim("I/O and CPU: `async def` with an async client ÷ `def` with a sync one", "both", "async", "def"),
    ),
)
