"""Measures the CPU time of a request that does nothing, while one of several libraries logs, counts or traces it."""

import sys
from functools import partial

from lab.measurement.case_users import watch
from lab.measurement.expected_answers import Claim, Figures, Ratio
from lab.measurement.question import Question
from lab.measurement.stage import Stage, uvicorn

USERS, SECONDS = 16, 3
CPU, P99 = "CPU ms a request", "p99 ms"
# A program that reads the service's standard error through a pipe, and needs two milliseconds for a line. Without the
# `&` in SLOW_PIPE, the program would be a descendant of the service, and its CPU time would count as the service's.
READER = "import sys, time\nfor line in sys.stdin: time.sleep(0.002)"
SLOW_PIPE = ["bash", "-c", f"exec \"$@\" 2> >(exec {sys.executable} -c '{READER}' <&0 &)", "bash"]


def _measured(stage: Stage, observe: str, *before: str, options: tuple[str, ...] = ()) -> Figures:
    with stage.serve([*before, *uvicorn("observing", *options)], observe=observe) as app:
        watch(app.url, USERS, 0.5)
        started = app.cpu_seconds()
        seen = watch(app.url, USERS, stage.seconds(SECONDS))
        spent = app.cpu_seconds() - started
    return {CPU: 1000 * spent / max(1, len(seen.latencies)), P99: seen.percentile(99)}


NOTHING, PLAIN, QUEUE, SLOW, SLOW_QUEUE = (
    "nothing",
    "logging",
    "logging by a queue",
    "slow pipe",
    "slow pipe, by a queue",
)
ACCESS = ("--access-log", "--log-level", "info")
WAYS = {
    NOTHING: "nothing",
    "nothing again": "nothing",
    PLAIN: "stdlib",
    QUEUE: "queue",
    "loguru": "loguru",
    "structlog": "structlog",
    "this project's record": "ours",
    "prometheus": "prometheus",
    "opentelemetry": "otel",
    "opentelemetry, 1 %": "otel_sampled",
    "FastAPI's telemetry=": "telemetry",
}


def _cost(name: str) -> Claim:
    return Claim(f"CPU: {name} ÷ nothing", Ratio(CPU, name, NOTHING))


QUESTION = Question(
    title="What observing costs",
    asked="lite-bootstrap#189, opentelemetry-python#3474, uvicorn#112, loguru#667",
    here=f"{USERS} users of an endpoint that does nothing, for {SECONDS} s; spans go nowhere, lines to a file",
    figure=CPU,
    cases={
        **{name: partial(_measured, observe=observe) for name, observe in WAYS.items()},
        "access log": partial(_measured, observe="nothing", options=ACCESS),
        SLOW: lambda stage: _measured(stage, "stdlib", *SLOW_PIPE),
        SLOW_QUEUE: lambda stage: _measured(stage, "queue", *SLOW_PIPE),
    },
    quick=(NOTHING, PLAIN, "opentelemetry", SLOW, SLOW_QUEUE),
    claims=(
        *(_cost(name) for name in [*list(WAYS)[1:], "access log"]),
        Claim("CPU: opentelemetry ÷ one trace in a hundred", Ratio(CPU, "opentelemetry", "opentelemetry, 1 %")),
        Claim("CPU: loguru ÷ logging", Ratio(CPU, "loguru", PLAIN)),
        Claim("99th percentile: a slow reader of the log ÷ a file", Ratio(P99, SLOW, PLAIN)),
        Claim("99th percentile: a slow reader, without a queue ÷ with one", Ratio(P99, SLOW, SLOW_QUEUE)),
    ),
)
