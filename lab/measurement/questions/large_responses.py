"""One client that fetches large responses, and four that fetch small ones meanwhile."""

from functools import partial
from itertools import product

import uvloop

from lab.measurement.answers import Claim, Figures, Ratio
from lab.measurement.question import Question
from lab.measurement.stage import Stage, uvicorn
from lab.measurement.users import crowd, watch

SECONDS = 3
SIZES = {"10 kB": 50, "1 MB": 5000, "10 MB": 50_000}  # rows
WAYS = {
    "return type": "declared",
    "dict": "undeclared",
    "JSONResponse": "json_response",
    "bytes": "bytes",
    "stream": "stream",
    "return type, def": "thread",
}
CPU, OTHERS = "CPU ms a response", "another request's p99 ms"


def _measured(stage: Stage, path: str, rows: int) -> Figures:
    with stage.serve(uvicorn("large_responses")) as app:
        url, seconds = f"{app.url}/{path}/{rows}", stage.seconds(SECONDS) / 2
        watch(url, 1, 0.3)
        before = app.cpu_seconds()
        alone = watch(url, 1, seconds)
        spent = app.cpu_seconds() - before
        others = uvloop.run(crowd([f"{app.url}/small"], 4, seconds, pause=0.01, beside=crowd([url], 1, seconds)))
    return {CPU: 1000 * spent / max(1, len(alone.latencies)), OTHERS: others.percentile(99)}


def _ratio(figure: str, over: str, under: str, size: str = "1 MB") -> Ratio:
    return Ratio(figure, f"{over}, {size}", f"{under}, {size}")


QUESTION = Question(
    title="Large responses, and everybody else",
    asked="fastapi#360 and #1359, PR #2615, airflow#59082",
    here=f"one client that fetches rows, for {SECONDS} s, beside four that fetch a word each 10 ms in half of the time",
    figure=OTHERS,
    cases={
        f"{way}, {size}": partial(_measured, path=path, rows=rows)
        for (size, rows), (way, path) in product(SIZES.items(), WAYS.items())
    },
    quick=tuple(f"{way}, 1 MB" for way in WAYS),
    claims=(
        Claim("CPU of 1 MB: a dict without a return type ÷ a return type", _ratio(CPU, "dict", "return type")),
        Claim("CPU of 1 MB: a return type ÷ bytes", _ratio(CPU, "return type", "bytes")),
        Claim("CPU of 1 MB: a return type ÷ a JSONResponse", _ratio(CPU, "return type", "JSONResponse")),
        Claim(
            "another request's p99: beside 10 MB by a return type ÷ beside a stream of 10 MB",
            _ratio(OTHERS, "return type", "stream", "10 MB"),
            only_if="the response is large",
            unless=_ratio(OTHERS, "return type", "stream", "10 kB"),
        ),
        Claim(
            "another request's p99: beside 10 MB from `async def` ÷ from `def`",
            _ratio(OTHERS, "return type", "return type, def", "10 MB"),
        ),
    ),
)
