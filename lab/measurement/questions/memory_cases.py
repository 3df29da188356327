"""Measures how much memory grows under a load, and how much remains after gc.collect() and after malloc_trim()."""

import http.client
from functools import partial
from urllib.parse import urlsplit

from lab.measurement.case_users import watch
from lab.measurement.expected_answers import Claim, Figures, Ratio
from lab.measurement.question import Question
from lab.measurement.stage import MIB, Served, Stage, uvicorn
from loadtest.stage.tree import tree

USERS, SECONDS = 40, 3
MORE, COLLECTED, TRIMMED = "MiB more after the load", "after gc.collect()", "after malloc_trim() as well"


def _rss(served: Served) -> float:
    return sum(process.memory_info().rss for process in tree(served.pid)) / MIB


def _ask(served: Served, path: str) -> None:
    connection = http.client.HTTPConnection(urlsplit(served.url).netloc, timeout=60)
    connection.request("GET", path)
    connection.getresponse().read()
    connection.close()


def _measured(stage: Stage, path: str, arenas: str = "") -> Figures:
    """Returns the growth since the first request in MiB: after the load, then gc.collect(), then malloc_trim()."""
    command = ["env", f"MALLOC_ARENA_MAX={arenas}", *uvicorn("memory")] if arenas else uvicorn("memory")
    with stage.serve(command) as app:
        _ask(app, path)
        _ask(app, "/collect")
        start = _rss(app)
        watch(f"{app.url}/{path}", USERS, stage.seconds(SECONDS), pause=0.05)
        grown = [_rss(app)]
        for step in ("/collect", "/trim"):
            _ask(app, step)
            grown.append(_rss(app))
    return dict(zip((MORE, COLLECTED, TRIMMED), (max(0.1, size - start) for size in grown), strict=True))


QUESTION = Question(
    title="Memory that grows and never falls",
    asked="fastapi#596, #1624 and #4649, uvicorn#1993, botocore#2047",
    here=f"{USERS} users for {SECONDS} s",
    figure=MORE,
    cases={
        "forty threads": partial(_measured, path="threads"),
        "forty threads, two arenas": partial(_measured, path="threads", arenas="2"),
        "forty threads, as on eight cores": partial(_measured, path="threads", arenas="64"),
        "cycles": partial(_measured, path="cycles"),
        "a list that keeps all": partial(_measured, path="leak"),
        "a cache of fixed size": partial(_measured, path="bounded"),
    },
    claims=(
        Claim(
            "what forty threads leave: 64 arenas, as eight cores have, ÷ with MALLOC_ARENA_MAX=2",
            Ratio(MORE, "forty threads, as on eight cores", "forty threads, two arenas"),
            only_if="there are many cores, for each of which glibc makes eight arenas",
            unless=Ratio(MORE, "forty threads", "forty threads, two arenas"),
        ),
        Claim(
            "what a list keeps ÷ what a cache of fixed size keeps, after collecting and trimming",
            Ratio(TRIMMED, "a list that keeps all", "a cache of fixed size"),
        ),
        Claim(
            "what a list keeps ÷ what forty threads leave, after collecting and trimming",
            Ratio(TRIMMED, "a list that keeps all", "forty threads"),
        ),
        Claim(
            "what a list keeps ÷ what cycles leave, after collecting and trimming",
            Ratio(TRIMMED, "a list that keeps all", "cycles"),
        ),
    ),
)
