"""Measures each way to take a database connection with many users, and two of the ways also with few users."""

from functools import partial
from time import sleep

from lab.measurement.case_users import watch
from lab.measurement.expected_answers import Claim, Figures, Ratio
from lab.measurement.question import Question
from lab.measurement.stage import Stage, uvicorn

WARM_UP_S, SECONDS = 0.5, 2  # so short that all repeats together take less than two minutes
FEW, MANY = 40, 100  # a deadlock needs 50 requests: 40 own all threads, and ten own all connections
ANSWERS, IN_TIME = "answers a second", "answered within 1 s, %"


def _measured(stage: Stage, path: str, users: int, pool: int = 10) -> Figures:
    command = uvicorn("deadlock", "--timeout-graceful-shutdown", "1")
    with stage.serve(command, pool_size=str(pool), pool_timeout="5") as app:
        watch(f"{app.url}/{path}", users, WARM_UP_S)
        sleep(WARM_UP_S)  # The warm-up's last requests must end first, because they would act as more users.
        seen = watch(f"{app.url}/{path}", users, stage.seconds(SECONDS))
    in_time = sum(latency <= 1000 for latency in seen.latencies)  # noqa: PLR2004  # milliseconds
    sent = len(seen.latencies) + seen.failed
    return {ANSWERS: seen.per_second, IN_TIME: 100 * in_time / max(1, sent), "p99 ms": seen.percentile(99)}


QUESTION = Question(
    title="A sync dependency that owns a connection, and 40 threads",
    asked="fastapi#3205, PRs #5122, #12066 and #15372, discord/access#496",
    here=f"a SELECT of Postgres, 40 threads, ten connections, time-out 5 s; {FEW} and {MANY} users for {SECONDS} s",
    figure=ANSWERS,
    database=True,
    cases={
        f"dependency, {FEW} users": partial(_measured, path="dependency", users=FEW),
        f"dependency, {MANY} users": partial(_measured, path="dependency", users=MANY),
        f"40 connections, {MANY} users": partial(_measured, path="dependency", users=MANY, pool=40),
        f"in the handler, {FEW} users": partial(_measured, path="handler", users=FEW),
        f"in the handler, {MANY} users": partial(_measured, path="handler", users=MANY),
        f"max_concurrency, {MANY} users": partial(_measured, path="limited", users=MANY),
        f"async pool, {MANY} users": partial(_measured, path="awaited", users=MANY),
    },
    quick=tuple(f"{way}, {users} users" for way in ("dependency", "in the handler") for users in (FEW, MANY)),
    claims=(
        Claim(
            "answered in time: a connection taken in the handler ÷ by a sync dependency",
            Ratio(IN_TIME, f"in the handler, {MANY} users", f"dependency, {MANY} users"),
            only_if="as many requests as threads and connections together are under way",
            unless=Ratio(IN_TIME, f"in the handler, {FEW} users", f"dependency, {FEW} users"),
        ),
        Claim(
            "answers a second: the same with as many connections as threads",
            Ratio(ANSWERS, f"in the handler, {MANY} users", f"40 connections, {MANY} users"),
        ),
        Claim(
            "answers a second: a dependency with max_concurrency ÷ without",
            Ratio(ANSWERS, f"max_concurrency, {MANY} users", f"dependency, {MANY} users"),
        ),
        Claim(
            "answers a second: an async dependency with an async pool ÷ a sync one",
            Ratio(ANSWERS, f"async pool, {MANY} users", f"dependency, {MANY} users"),
        ),
    ),
)
