"""Posts many generated webhooks, at once or at a rate, and checks that none is lost after a 200."""

import asyncio
from collections import Counter
from functools import partial

import aiohttp

from app.settings import Settings
from local.audit import audit
from local.chargebee.load_generator import LoadResult, load
from local.chargebee.sender import open_prober, open_session
from local.demo.output import Bar, Output
from local.local_run import LocalRun
from local.machine import Watch
from local.peek import peek
from local.sample_events import default_file, fresh_events_of
from local.seeding import pending, seed

# The published load test had the same time-out.
PATIENCE = aiohttp.ClientTimeout(total=30)


def burst(
    run: LocalRun, settings: Settings, output: Output, count: int, *, concurrency: int, rate: float | None
) -> list[str]:
    """Posts `count` webhooks; returns a line if any of them got 200 and is not in the queue (v01: not billed).

    See `local.chargebee.load_generator.load` for `concurrency` and `rate`.
    """
    bodies = list(fresh_events_of([default_file()], count))
    if not settings.release.enqueues:
        seed(run, bodies)
    with Watch() as watch, output.bar("Sending", count) as bar:
        result = asyncio.run(_send(run, settings, bodies, bar, concurrency=concurrency, rate=rate))
    output.say(result.report())
    for doubt in watch.busy.doubts():
        output.say(f"DOUBTFUL: {doubt} meanwhile, which may have changed these times")
    output.note("Auditing")
    arrived, lost, expected = (_queued if settings.release.enqueues else _billed)(run, bodies, result.accepted)
    output.say(f"audit: {len(result.accepted):,} got 200, {arrived}, {lost} lost")
    return [f"{lost} webhooks got 200 and are not {expected}"] if lost else []


async def _send(
    run: LocalRun, settings: Settings, bodies: list[bytes], bar: Bar, *, concurrency: int, rate: float | None
) -> LoadResult:
    assert run.url is not None
    async with (
        open_session(run.url, settings, connections=0, timeout=PATIENCE) as client,
        open_prober(run.url) as prober,
    ):
        answered = partial(bar, 1)
        return await load(client, prober, iter(bodies), concurrency=concurrency, rate=rate, answered=answered)


def _queued(run: LocalRun, bodies: list[bytes], accepted: list[bytes]) -> tuple[str, int, str]:
    """Returns the number that arrived, in words; how many accepted webhooks are missing; and where they should be."""
    arrived = Counter(message.body.encode() for message in peek(run.endpoint, run.queue_url, run.ca_bundle))
    return f"{arrived.total():,} in the queue", sum(body not in arrived for body in accepted), "in the queue"


def _billed(run: LocalRun, bodies: list[bytes], accepted: list[bytes]) -> tuple[str, int, str]:
    """Returns the same as `_queued`, for the webhooks' invoices."""
    closed = audit(run.chargebee, pending(bodies)).closed
    lost = len(audit(run.chargebee, pending(accepted)).problems)
    return f"{closed:,} invoices closed", lost, "billed correctly"
