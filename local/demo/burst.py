"""Posts many generated webhooks, and checks that no webhook is lost after the service has answered 200."""

from collections import Counter
from functools import partial

import aiohttp

from app.settings import WebSettings
from local import ctrl_c
from local.chargebee.load_generator import LoadResult, load
from local.chargebee.sender import open_prober, open_session
from local.demo.output import Bar, Output
from local.local_run import LocalRun
from local.machine import Watch
from local.money_audit import audit
from local.peek import peek
from local.sample_events import default_file, fresh_events_of
from local.seeding import pending, seed

# The time-out of a request. The published load test used the same value.
PATIENCE = aiohttp.ClientTimeout(total=30)


def burst(
    run: LocalRun, settings: WebSettings, output: Output, count: int, *, concurrency: int, rate: float | None
) -> list[str]:
    """Posts `count` webhooks, and returns a list with a line for each problem.

    It is a problem if webhooks were lost, or if no webhook got 200. A webhook is lost if the service answered 200 but
    the webhook is not in the queue. With v01, which has no queue, a webhook is lost if the service answered 200 but did
    not bill the invoice. The docstring of `local.chargebee.load_generator.load` explains `concurrency` and `rate`.
    """
    bodies = list(fresh_events_of([default_file()], count))
    if not settings.release.enqueues:
        seed(run, bodies)
    with Watch() as watch, output.bar("Sending", count) as bar:
        result = ctrl_c.run(_send(run, settings, bodies, bar, concurrency=concurrency, rate=rate))
    output.say(result.report())
    for doubt in watch.busy.doubts():
        output.say(f"DOUBTFUL: {doubt}; this may have changed the times above")
    output.note("Auditing")
    arrived, lost, expected = (_queued if settings.release.enqueues else _billed)(run, bodies, result.accepted)
    output.say(f"audit: {len(result.accepted):,} got 200, {arrived}, {lost} lost")
    if not result.accepted:
        return [f"none of the {count:,} webhooks got 200"]
    return [f"{lost} webhooks got 200 but are not {expected}"] if lost else []


async def _send(
    run: LocalRun, settings: WebSettings, bodies: list[bytes], bar: Bar, *, concurrency: int, rate: float | None
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

    Returns three values for the report: the number of messages as a phrase, such as "1,000 in the queue"; the number
    of accepted webhooks that are not in the queue; and the phrase "in the queue".
    """
    arrived = Counter(message.body.encode() for message in peek(run.endpoint, run.queue_url, run.ca_bundle))
    return f"{arrived.total():,} in the queue", sum(body not in arrived for body in accepted), "in the queue"


def _billed(run: LocalRun, bodies: list[bytes], accepted: list[bytes]) -> tuple[str, int, str]:
    """Returns values like `_queued`, but about billed invoices instead of messages, because v01 has no queue."""
    closed = audit(run.chargebee, pending(bodies)).closed
    problems = audit(run.chargebee, pending(accepted)).problems
    lost = len({problem.partition(":")[0] for problem in problems})  # an invoice may have several problems
    return f"{closed:,} invoices closed", lost, "billed correctly"
