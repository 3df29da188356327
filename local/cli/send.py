"""`python -m local send`: sends webhooks as Chargebee does."""

import sys
from collections import Counter
from collections.abc import Iterable
from functools import partial
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

import click

from app.errors import ConfigurationError
from app.settings import WebSettings, load_settings, load_worker_settings
from app.terminal import is_dumb
from local import ctrl_c
from local.chargebee.load_generator import LoadResult, load
from local.chargebee.sender import open_prober, open_session, post
from local.cli import given
from local.local_run import LocalRun, read_run
from local.local_settings import load_local_settings
from local.readiness import is_listening
from local.sample_events import default_file, fresh_events_of, sample_files
from local.seeding import seed
from local.stand_ins import StandIns, configured_stand_ins

DEFAULT_URL = "http://127.0.0.1:8000"


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE…]", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--count", type=click.IntRange(min=1), help="Send this many webhooks, generated from FILE, each with its own ids."
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 1000),
    default=8,
    show_default=True,
    help="With --count: maximum number of webhooks in flight.",
)
@click.option("--url", help=f"The service's URL.  [default: that of the local run, or else {DEFAULT_URL}]")
@click.option(
    "--seed", "seeded", is_flag=True, help="First register the webhooks' invoices at the stand-ins of a deployment."
)
def send(files: tuple[Path, ...], count: int | None, concurrency: int, url: str | None, seeded: bool) -> None:
    """Send webhooks with the Basic auth, headers and time-outs that Chargebee uses.

    Without FILE, the command sends the samples in loadtest/events; with --count, copies of default.json (5,686 bytes).
    The credentials are APP_BASIC_AUTH_USERNAME and APP_BASIC_AUTH_PASSWORD, or demo:demo. The command exits with 0 if
    every response is 200.

    With --seed, the command first registers the webhooks' pending invoices and billable events (usage) at the stand-ins
    that APP_CHARGEBEE_URL, AWS_ENDPOINT_URL and APP_BILLING_TABLE name. With neither --seed nor --url, it registers
    them at the stand-ins of the local run, if there is one.
    """
    if count is None and given("concurrency"):
        raise click.UsageError("--concurrency has no effect without --count")
    settings = load_settings()
    local = None if url else _local_run()
    target = url or (local.url if local else None) or DEFAULT_URL
    run = configured_stand_ins(load_worker_settings()) if seeded else local
    if count is None:
        files_ = list(files) or sample_files()
        bodies = [(file, file.read_bytes()) for file in files_]  # read only once, because a FILE may be a pipe
        _seed(run, [body for _, body in bodies])
        statuses = ctrl_c.run(_send_each(target, settings, bodies))
        click.echo(", ".join(f"{status or 'no answer'}: {number:,}" for status, number in sorted(statuses.items())))
    else:
        fresh = list(fresh_events_of(list(files) or [default_file()], count))
        _seed(run, fresh)
        result = ctrl_c.run(_send_many(target, settings, fresh, concurrency))
        statuses = result.statuses
        click.echo(result.report())
    if set(statuses) != {HTTPStatus.OK}:
        raise click.exceptions.Exit(1)


async def _send_each(url: str, settings: WebSettings, bodies: list[tuple[Path, bytes]]) -> Counter[int]:
    statuses: Counter[int] = Counter()
    async with open_session(url, settings) as client:
        for file, body in bodies:
            reply = await post(client, body)
            statuses[reply.status] += 1
            click.echo(f"{file.name} ({len(body):,} bytes) → {reply.status or ''} {reply.text}")
    return statuses


async def _send_many(url: str, settings: WebSettings, bodies: list[bytes], concurrency: int) -> LoadResult:
    async with open_session(url, settings, concurrency) as client, open_prober(url) as prober:
        with click.progressbar(length=len(bodies), label="Sending", show_pos=True, hidden=is_dumb(sys.stdout)) as bar:
            answered = partial(bar.update, 1)
            return await load(client, prober, iter(bodies), concurrency=concurrency, rate=None, answered=answered)


def _local_run() -> LocalRun | None:
    """Returns the local run. Returns None if there is no local run, but a service listens on DEFAULT_URL.

    Raises ConfigurationError if there is neither a local run nor such a service, or if the local run's service is
    not ready.
    """
    run_dir = load_local_settings().run_dir
    try:
        run = read_run(run_dir)
    except ConfigurationError as error:
        try:
            is_listening(urlsplit(DEFAULT_URL).port or 0)
        except OSError:
            raise ConfigurationError(
                f"{error}, or name a service with --url; no service listens on {DEFAULT_URL}"
            ) from None
        return None
    if run.url is None:
        raise ConfigurationError(f"the service of the local run in {run_dir} is not ready yet: try again")
    return run


def _seed(run: LocalRun | StandIns | None, bodies: Iterable[bytes]) -> None:
    if run is not None:
        seed(run, bodies)
