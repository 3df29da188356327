"""`python -m app send`: webhooks as Chargebee sends them."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import NamedTuple

import aiohttp
import click

from app.errors import ConfigurationError
from app.local.run import read_run
from app.local.sample_events import SAMPLES, fresh_events, sample_files
from app.settings import Settings, load_settings

# Chargebee waits 20 s for a connection, 20 s for a read and 60 s in total.
TIMEOUT = aiohttp.ClientTimeout(total=60, connect=20, sock_read=20)
HEADERS = {"Content-Type": "application/json;charset=UTF-8", "User-Agent": "ChargeBee"}


class Reply(NamedTuple):
    """What the service said; status 0 where it said nothing."""

    status: int
    text: str


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE…]", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--count", type=click.IntRange(min=1), help="Send that many, made of FILE, each with ids of its own.")
@click.option("--concurrency", type=click.IntRange(1, 1000), default=8, show_default=True, help="Requests at once.")
@click.option("--url", help="The service.  [default: the local run, else http://127.0.0.1:8000]")
def send(files: tuple[Path, ...], count: int | None, concurrency: int, url: str | None) -> None:
    """Send webhooks as Chargebee does: Basic auth, its headers, its time-outs.

    Without FILE: the samples of loadtest/events (with --count: the one of 5,686 bytes). Credentials are
    APP_BASIC_AUTH_USERNAME and APP_BASIC_AUTH_PASSWORD, else demo:demo. Ends with 0 if every answer was 200.
    """
    settings = load_settings()
    target = url or _local_url(settings)
    chosen = list(files) or ([SAMPLES / "default.json"] if count else sample_files())
    labels = [file.name for file in chosen]
    bodies = [file.read_bytes() for file in chosen]
    if count is None:
        statuses = asyncio.run(_send_each(target, settings, labels, bodies))
    else:
        statuses = asyncio.run(_send_many(target, settings, _round_robin(bodies, count), count, concurrency))
    click.echo(", ".join(f"{status or 'no answer'}: {number:,}" for status, number in sorted(statuses.items())))
    if set(statuses) != {HTTPStatus.OK}:
        raise click.exceptions.Exit(1)


def session(url: str, settings: Settings, connections: int = 8) -> aiohttp.ClientSession:
    """A client that looks like Chargebee. `url` is the service's, without a path. Raises ConfigurationError."""
    password = settings.basic_auth_password
    user = (settings.basic_auth_username or "", password.get_secret_value()) if password else ("demo", "demo")
    try:
        return aiohttp.ClientSession(
            url,
            headers=HEADERS | {"Authorization": aiohttp.encode_basic_auth(*user)},
            timeout=TIMEOUT,
            connector=aiohttp.TCPConnector(limit=connections),
        )
    except ValueError:
        raise ConfigurationError(f"--url {url}: allowed is scheme and host, as in http://127.0.0.1:8000") from None


async def post(client: aiohttp.ClientSession, body: bytes) -> Reply:
    """One webhook and its answer."""
    try:
        async with client.post("/webhooks/chargebee", data=body) as response:
            return Reply(response.status, await response.text())
    except (aiohttp.ClientError, TimeoutError) as error:
        return Reply(0, f"no answer: {error or type(error).__name__}")


async def _send_each(url: str, settings: Settings, labels: list[str], bodies: list[bytes]) -> Counter[int]:
    statuses: Counter[int] = Counter()
    async with session(url, settings) as client:
        for label, body in zip(labels, bodies, strict=True):
            reply = await post(client, body)
            statuses[reply.status] += 1
            click.echo(f"{label} ({len(body):,} bytes) → {reply.status or ''} {reply.text}")
    return statuses


async def _send_many(
    url: str, settings: Settings, bodies: Iterator[bytes], count: int, concurrency: int
) -> Counter[int]:
    statuses: Counter[int] = Counter()
    with click.progressbar(length=count, label="Sending", show_pos=True) as bar:
        async with session(url, settings, concurrency) as client:

            async def work() -> None:
                for body in bodies:  # shared: each worker takes the next one
                    statuses[(await post(client, body)).status] += 1
                    bar.update(1)

            await asyncio.gather(*(work() for _ in range(concurrency)))
    return statuses


def _round_robin(templates: list[bytes], count: int) -> Iterator[bytes]:
    """`count` fresh events, made of each template in turn."""
    shares = [fresh_events(body, count // len(templates) + 1) for body in templates]
    return (next(shares[number % len(shares)]) for number in range(count))


def _local_url(settings: Settings) -> str:
    try:
        return read_run(settings.run_dir).url or "http://127.0.0.1:8000"
    except ConfigurationError:
        return "http://127.0.0.1:8000"
