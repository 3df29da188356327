"""Many fresh webhooks, at once or at a rate: none that got 200 is lost."""

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

# As the published load test had it.
PATIENCE = aiohttp.ClientTimeout(total=30)


def burst(
    run: LocalRun, settings: Settings, output: Output, count: int, *, concurrency: int, rate: float | None
) -> list[str]:
    """Posts `count` of them; returns a line where some got 200 and are not in the queue (v01: not billed).

    `concurrency` and `rate` as in `local.chargebee.load_generator.load`.
    """
    bodies = list(fresh_events_of([default_file()], count))
    if not settings.release.enqueues:
        seed(run, bodies)
    with Watch() as watch, output.bar("Sending", count) as bar:
        result = asyncio.run(_send(run, settings, bodies, bar, concurrency=concurrency, rate=rate))
    output.say(result.report())
    for doubt in watch.busy.doubts():
        output.say(f"DOUBTFUL: {doubt} meanwhile, so these times are not the release's alone")
    output.note("Auditing")
    there, lost, missing = (_queued if settings.release.enqueues else _billed)(run, bodies, result.accepted)
    output.say(f"audit: {len(result.accepted):,} got 200, {there}, {lost} lost")
    return [f"{lost} webhooks got 200 and are not {missing}"] if lost else []


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
    """How many are there, in words; how many of the accepted are not; and where they should be."""
    arrived = Counter(message.body.encode() for message in peek(run.endpoint, run.queue_url, run.ca_bundle))
    return f"{arrived.total():,} in the queue", sum(body not in arrived for body in accepted), "in the queue"


def _billed(run: LocalRun, bodies: list[bytes], accepted: list[bytes]) -> tuple[str, int, str]:
    """The same of their invoices."""
    closed = audit(run.chargebee, pending(bodies)).closed
    lost = len(audit(run.chargebee, pending(accepted)).problems)
    return f"{closed:,} invoices closed", lost, "billed as they should be"
