"""Posts many generated webhooks, and checks that no webhook is lost after the service has answered 200."""

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

# The published load test used the same time-out for a request, 30 s.
PATIENCE = aiohttp.ClientTimeout(total=30)


def burst(
    run: LocalRun, settings: Settings, output: Output, count: int, *, concurrency: int, rate: float | None
) -> list[str]:
    """Posts `count` webhooks, and returns the problems as lines.

    It is a problem if a webhook got 200 but is not in the queue. With v01, which has no queue, it is a problem if a
    webhook got 200 but its invoice is not billed. `local.chargebee.load_generator.load` explains `concurrency` and
    `rate`.
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
    """Compares the accepted webhooks with the messages in the queue.

    Returns the number of messages as text, the number of missing webhooks, and a text about where these should be.
    """
    arrived = Counter(message.body.encode() for message in peek(run.endpoint, run.queue_url, run.ca_bundle))
    return f"{arrived.total():,} in the queue", sum(body not in arrived for body in accepted), "in the queue"


def _billed(run: LocalRun, bodies: list[bytes], accepted: list[bytes]) -> tuple[str, int, str]:
    """Returns the same three values as `_queued`, for a release that bills the webhooks' invoices itself."""
    closed = audit(run.chargebee, pending(bodies)).closed
    lost = len(audit(run.chargebee, pending(accepted)).problems)
    return f"{closed:,} invoices closed", lost, "billed correctly"
