"""`python -m local demo`: tests the service from end to end, with a service process and a queue process."""

import math
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import click

from app.settings import load_settings
from app.terminal import is_dumb
from local import ctrl_c, exposure
from local.cli import given
from local.demo.burst import burst
from local.demo.closed_invoices import bill_samples, calls_a_minute
from local.demo.output import Bar, Output
from local.demo.posted_samples import post_samples
from local.launch import start_service


@contextmanager
def _bar(label: str, length: int) -> Iterator[Bar]:
    with click.progressbar(
        length=length, label=label, show_pos=True, show_eta=False, hidden=is_dumb(sys.stdout)
    ) as bar:
        yield bar.update


OUTPUT = Output(say=click.echo, note=partial(click.echo, err=True), bar=_bar)


@click.command()
@click.option("--count", type=click.IntRange(min=1), help="Send this many generated webhooks instead of the samples.")
@click.option(
    "--concurrency",
    type=click.IntRange(1, 1000),
    default=50,
    show_default=True,
    help="With --count: maximum number of webhooks in flight.",
)
@click.option(
    "--rate",
    type=click.FloatRange(min=0.1),
    help="With --count: send this many webhooks per second, without waiting for answers (open loop).",
)
def demo(count: int | None, concurrency: int, rate: float | None) -> None:
    """Start a queue and the service, post webhooks, and show which messages arrived in the queue.

    Then a worker closes the invoices; with --count, no worker starts. The command exits with 0 if all checks succeed,
    such as the check that each charge is on its invoice exactly once. The settings of the service and of the local run
    apply: APP_RELEASE=v02_blocking APP_LOCAL_SQS_DELAY=0.1 … demo --count 20 runs v02_blocking with 100 ms of latency
    for each call to SQS.
    """
    _check(count, rate)
    ctrl_c.end_like_ctrl_c()  # so that SIGTERM also stops the child processes and removes the temporary folder
    settings = load_settings()
    exposure.warn(settings)
    click.echo(f"Starting the queue and {settings.release.value}", err=True)
    variables = {"APP_CHARGEBEE_RATE": str(calls_a_minute())}
    with tempfile.TemporaryDirectory() as folder, start_service(Path(folder), variables) as run:
        click.echo(f"{settings.release.value} on {run.url}, SQS at {run.endpoint}\n")
        if count is None:
            problems = post_samples(run, settings, OUTPUT) or bill_samples(run, settings, OUTPUT)
        else:
            problems = burst(run, settings, OUTPUT, count, concurrency=concurrency, rate=rate)
    for problem in problems:
        click.echo(f"FAILED: {problem}", err=True)
    if problems:
        raise click.exceptions.Exit(1)


def _check(count: int | None, rate: float | None) -> None:
    """Raises UsageError if an option has no effect, or if the rate is not a finite number."""
    if rate is not None and not math.isfinite(rate):
        raise click.UsageError(f"--rate={rate}: allowed is 0.1 or more")
    if count is None and (rate is not None or given("concurrency")):
        raise click.UsageError("--concurrency and --rate have no effect without --count")
    if rate is not None and given("concurrency"):
        raise click.UsageError("--concurrency has no effect with --rate: allowed is one of them")
