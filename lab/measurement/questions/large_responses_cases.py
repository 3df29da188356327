"""Measures the CPU time of large responses, and how long other clients wait for small responses meanwhile."""

from functools import partial
from itertools import product
from time import monotonic

import httpx
import uvloop

from lab.measurement.case_users import crowd
from lab.measurement.expected_answers import Claim, Figures, Ratio
from lab.measurement.question import Question
from lab.measurement.stage import Served, Stage, uvicorn

SECONDS = 3
SIZES = {"10 kB": 66, "1 MB": 6500, "10 MB": 62_500}  # numbers of rows
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
        spent = _cpu_ms(app, url, seconds)
        others = uvloop.run(crowd([f"{app.url}/small"], 4, seconds, pause=0.01, beside=crowd([url], 1, seconds)))
    return {CPU: spent, OTHERS: others.percentile(99)}


def _cpu_ms(app: Served, url: str, seconds: float) -> float:
    """Returns the mean CPU time of a response in ms.

    Fetches responses, one after the other, for at least `seconds`. Raises ChildProcessError if a request fails.
    """
    try:
        with httpx.Client(timeout=60, trust_env=False) as client:
            client.get(url).raise_for_status()
            before, began, responses = app.cpu_seconds(), monotonic(), 0
            while responses == 0 or monotonic() - began < seconds:
                client.get(url).raise_for_status()
                responses += 1
            return 1000 * (app.cpu_seconds() - before) / responses
    except httpx.HTTPError as error:
        raise ChildProcessError(f"{url}: {error!r}") from None


def _ratio(figure: str, over: str, under: str, size: str = "1 MB") -> Ratio:
    return Ratio(figure, f"{over}, {size}", f"{under}, {size}")


QUESTION = Question(
    title="Large responses, and everybody else",
    asked="fastapi#360 and #1359, PR #2615, airflow#59082",
    here=f"one client that fetches rows, for {SECONDS} s, and four that fetch a word each 10 ms in half of the time",
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
            "another request's p99: during 10 MB by a return type ÷ during a stream of 10 MB",
            _ratio(OTHERS, "return type", "stream", "10 MB"),
            only_if="the response is large",
            unless=_ratio(OTHERS, "return type", "stream", "10 kB"),
        ),
        Claim(
            "another request's p99: during 10 MB from `async def` ÷ from `def`",
            _ratio(OTHERS, "return type", "return type, def", "10 MB"),
        ),
    ),
)
