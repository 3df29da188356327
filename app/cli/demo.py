"""`python -m app demo`: end to end, with a real service and a real queue process."""

import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

import aiohttp
import click

from app.local.audit import audit, wait
from app.local.billables import pending, seed
from app.local.chargebee.load import Outcome, load
from app.local.chargebee.sender import open_prober, open_session, post
from app.local.machine import Watch
from app.local.peek import peek
from app.local.run import LocalRun
from app.local.sample_events import default_file, fresh_events_of, sample_files
from app.local.service import start_service
from app.local.worker import start as start_worker
from app.settings import Settings, load_settings

# As the published load test had it.
PATIENCE = aiohttp.ClientTimeout(total=30)
# Chargebee's second plan.
CALLS_A_MINUTE = 1000
SECONDS = 60.0  # for ten invoices


@click.command()
@click.option("--count", type=click.IntRange(min=1), help="Instead of the samples: that many fresh webhooks at once.")
@click.option("--concurrency", type=click.IntRange(1, 1000), default=50, show_default=True, help="Of --count, at once.")
@click.option("--rate", type=click.FloatRange(min=0.1), help="Of --count, per second (open loop).")
def demo(count: int | None, concurrency: int, rate: float | None) -> None:
    """Start queue and service, post webhooks, show what arrived; then let a worker close the invoices. Exits with 0 if
    everything is as expected: each charge is on its invoice exactly once.

    With --count it ends at the queue. Settings apply: APP_RELEASE=v02_blocking APP_LOCAL_SQS_DELAY=0.1 …
    demo --count 20 runs a release of the history on a queue with 100 ms of latency.
    """
    settings = load_settings()
    click.echo(f"Starting the queue and {settings.release.value}", err=True)
    # The worker starts later, so that the queue can be looked at first.
    variables = {"APP_LOCAL_WORKER": "0", "APP_CHARGEBEE_RATE": str(_calls_a_minute(settings))}
    with tempfile.TemporaryDirectory() as folder, start_service(Path(folder), variables) as run:
        click.echo(f"{settings.release.value} on {run.url}, SQS at {run.endpoint}\n")
        if count is None:
            problems = _samples(run, settings) or _invoices(run, settings)
        else:
            problems = _burst(run, settings, count, concurrency, rate)
    for problem in problems:
        click.echo(f"FAILED: {problem}", err=True)
    if problems:
        raise click.exceptions.Exit(1)


def _samples(run: LocalRun, settings: Settings) -> list[str]:
    """Posts every sample once; returns what was not as expected."""
    files = sample_files()
    seed(run, (file.read_bytes() for file in files))
    answers = asyncio.run(_post(run, settings, files))
    if not settings.release.enqueues:
        return list(_unexpected(files, settings, answers))
    arrived = peek(run.endpoint, run.queue_url, run.ca_bundle)
    click.echo(f"\n{len(arrived)} messages in the queue:")
    for message in arrived:
        click.echo(f"  {len(message.body.encode()):>7,} bytes  {json.dumps(message.attributes)}")
    problems = list(_problems(files, settings, answers, [message.body.encode() for message in arrived]))
    if not problems:
        click.echo("\nOK: every event to enqueue arrived byte for byte, and nothing else did.")
    return problems


def _invoices(run: LocalRun, settings: Settings) -> list[str]:
    """Has a worker bill the samples (v01 has done it); returns what is wrong with their invoices."""
    events = list(pending(file.read_bytes() for file in sample_files()))
    if not settings.release.enqueues:
        return _audited(run, events)
    click.echo(f"\nStarting a worker; the invoices are shown on {run.chargebee}", err=True)
    variables = {"APP_CHARGEBEE_RATE": str(_calls_a_minute(settings)), "APP_LOG_LEVEL": "ERROR"}
    with (
        start_worker(run, variables) as child,
        click.progressbar(length=len(events), label="Invoices closed", show_pos=True, show_eta=False) as bar,
    ):
        in_time = wait(run.chargebee, events, SECONDS, bar.update, lambda: child.poll() is None)
    problems = _audited(run, events)
    return problems if in_time else [f"the worker did not close all invoices within {SECONDS:g} s", *problems]


def _audited(run: LocalRun, events: list[dict[str, Any]]) -> list[str]:
    """Shows how many invoices are closed; returns what is wrong with them."""
    seen = audit(run.chargebee, events)
    click.echo(seen.report(len(events)))
    if not seen.problems:
        click.echo("\nOK: every invoice is closed once, and has each of its charges exactly once.")
    return seen.problems


def _calls_a_minute(settings: Settings) -> int:
    """A test site's 150 would let the demo wait."""
    return settings.chargebee_rate if "chargebee_rate" in settings.model_fields_set else CALLS_A_MINUTE


def _burst(run: LocalRun, settings: Settings, count: int, concurrency: int, rate: float | None) -> list[str]:
    """Posts `count` fresh webhooks; returns a line where some got 200 and are not in the queue (v01: not billed)."""
    bodies = list(fresh_events_of([default_file()], count))
    if not settings.release.enqueues:
        seed(run, bodies)

    async def send() -> Outcome:
        assert run.url is not None
        async with (
            open_session(run.url, settings, connections=0, timeout=PATIENCE) as client,
            open_prober(run.url) as prober,
        ):
            with click.progressbar(length=count, label="Sending", show_pos=True, show_eta=False) as bar:
                answered = partial(bar.update, 1)
                return await load(client, prober, iter(bodies), concurrency=concurrency, rate=rate, answered=answered)

    with Watch() as watch:
        outcome = asyncio.run(send())
    click.echo(outcome.report())
    for doubt in watch.busy.doubts():
        click.echo(f"DOUBTFUL: {doubt} meanwhile, so these times are not the release's alone")
    click.echo("Auditing", err=True)
    if settings.release.enqueues:
        arrived = Counter(message.body.encode() for message in peek(run.endpoint, run.queue_url, run.ca_bundle))
        lost = sum(body not in arrived for body in outcome.accepted)
        there, missing = f"{arrived.total():,} in the queue", "in the queue"
    else:
        lost = len(audit(run.chargebee, pending(outcome.accepted)).problems)
        there, missing = f"{audit(run.chargebee, pending(bodies)).closed:,} invoices closed", "billed as they should be"
    click.echo(f"audit: {len(outcome.accepted):,} got 200, {there}, {lost} lost")
    return [f"{lost} webhooks got 200 and are not {missing}"] if lost else []


async def _post(run: LocalRun, settings: Settings, files: list[Path]) -> dict[str, str]:
    """The status in the response to each file, `queued` or `ignored`, or the error."""
    answers = {}
    assert run.url is not None
    async with open_session(run.url, settings) as client:
        for file in files:
            reply = await post(client, file.read_bytes())
            click.echo(f"{reply.status}  {reply.text}  ← {file.name}")
            answers[file.name] = json.loads(reply.text)["status"] if reply.status == HTTPStatus.OK else f"{reply}"
    return answers


def _problems(files: list[Path], settings: Settings, answers: dict[str, str], arrived: list[bytes]) -> Iterator[str]:
    yield from _unexpected(files, settings, answers)
    expected = [file.read_bytes() for file in files if _wanted(file, settings)]
    if sorted(arrived) != sorted(expected):
        yield f"{len(arrived)} messages arrived; expected {len(expected)}, equal to the files byte for byte"


def _unexpected(files: list[Path], settings: Settings, answers: dict[str, str]) -> Iterator[str]:
    """A line for each answer that is not as it should be."""
    for file in files:
        if answers[file.name] != (settings.release.accepted if _wanted(file, settings) else "ignored"):
            yield f"{file.name}: {answers[file.name]}"


def _wanted(file: Path, settings: Settings) -> bool:
    return json.loads(file.read_bytes())["event_type"] in settings.event_types
