"""`python -m app send`: webhooks as Chargebee sends them."""

import asyncio
from collections import Counter
from functools import partial
from http import HTTPStatus
from pathlib import Path

import click

from app.errors import ConfigurationError
from app.local.chargebee.load import Outcome, load
from app.local.chargebee.sender import open_prober, open_session, post
from app.local.run import read_run
from app.local.sample_events import default_file, fresh_events_of, sample_files
from app.settings import Settings, load_settings


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE…]", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--count", type=click.IntRange(min=1), help="Send that many, generated from FILE, each with its own ids.")
@click.option("--concurrency", type=click.IntRange(1, 1000), default=8, show_default=True, help="Requests at once.")
@click.option("--url", help="The service.  [default: the local run, else http://127.0.0.1:8000]")
def send(files: tuple[Path, ...], count: int | None, concurrency: int, url: str | None) -> None:
    """Send webhooks as Chargebee does: Basic auth, its headers, its time-outs.

    Without FILE: the samples of loadtest/events (with --count: the one of 5,686 bytes). Credentials are
    APP_BASIC_AUTH_USERNAME and APP_BASIC_AUTH_PASSWORD, else demo:demo. Exits with 0 if every response was 200.
    """
    settings = load_settings()
    target = url or _local_url(settings)
    if count is None:
        statuses = asyncio.run(_send_each(target, settings, list(files) or sample_files()))
        click.echo(", ".join(f"{status or 'no answer'}: {number:,}" for status, number in sorted(statuses.items())))
    else:
        outcome = asyncio.run(_send_many(target, settings, list(files) or [default_file()], count, concurrency))
        statuses = outcome.statuses
        click.echo(outcome.report())
    if set(statuses) != {HTTPStatus.OK}:
        raise click.exceptions.Exit(1)


async def _send_each(url: str, settings: Settings, files: list[Path]) -> Counter[int]:
    statuses: Counter[int] = Counter()
    async with open_session(url, settings) as client:
        for file in files:
            body = file.read_bytes()
            reply = await post(client, body)
            statuses[reply.status] += 1
            click.echo(f"{file.name} ({len(body):,} bytes) → {reply.status or ''} {reply.text}")
    return statuses


async def _send_many(url: str, settings: Settings, files: list[Path], count: int, concurrency: int) -> Outcome:
    bodies = fresh_events_of(files, count)
    async with open_session(url, settings, concurrency) as client, open_prober(url) as prober:
        with click.progressbar(length=count, label="Sending", show_pos=True) as bar:
            answered = partial(bar.update, 1)
            return await load(client, prober, bodies, concurrency=concurrency, rate=None, answered=answered)


def _local_url(settings: Settings) -> str:
    try:
        return read_run(settings.run_dir).url or "http://127.0.0.1:8000"
    except ConfigurationError:
        return "http://127.0.0.1:8000"
