"""`python -m local doctor your.module:app`: names the lines of an ASGI app that block the event loop."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext

import click

from app.errors import ConfigurationError
from app.settings import Settings
from app.settings.text import http_url
from app.telemetry.logging import configure_logging
from asgi_doctor.errors import DoctorError
from asgi_doctor.serve import bind, serve
from asgi_doctor.stacks import Location, Stack
from asgi_doctor.target import load
from asgi_doctor.tokens import Tokens
from asgi_doctor.watchdog import Watchdog
from local import lessons
from local.doctor import report

LOOPBACK = "127.0.0.1"


@click.command()
@click.argument("target", metavar="MODULE:APP")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Port to listen on; 0 picks a free port.",
)
@click.option(
    "--warn",
    type=click.FloatRange(0.01, 60),
    default=0.1,
    show_default=True,
    help="Name lines that block the event loop for longer than this many seconds.",
)
@click.option("--for", "seconds", type=click.FloatRange(min=0, min_open=True), help="Stop after this many seconds.")
@click.option(
    "--page/--no-page",
    default=True,
    show_default=True,
    help="Also serve the live page with charts of the event loop, on a free port; it requests /healthz twice a second.",
)
@click.option("--check", is_flag=True, help="Exit with 1 if anything blocked the event loop for longer than --warn.")
def doctor(*, target: str, host: str, port: int, warn: float, seconds: float | None, page: bool, check: bool) -> None:
    """Serve an ASGI app, and name the lines that block its event loop, while you send requests to it.

    The doctor imports the app from the current directory, as uvicorn does. It names each line as soon as the line has
    blocked the event loop. Ctrl-C (or SIGTERM) stops the doctor, which then prints a summary. The summary names
    releases of this project that show a solution; `python -m local diff` shows their code. Time in which the process
    got no CPU does not count as blocked. While the app runs, the live page draws the delay of the event loop.
    """
    with ExitStack() as stack:
        try:
            asgi, listener = load(target), stack.enter_context(bind(host, port))
        except DoctorError as error:
            raise ConfigurationError(str(error)) from None
        url = http_url(host, listener.getsockname()[1])
        watchdog = Watchdog(warn, _found)
        tokens = Tokens(lambda limit: click.echo(report.waiting(limit)))
        measuring = stack.enter_context(_live(target, url)) if page else nullcontext()
        requests = serve(
            asgi,
            listener,
            watchdog,
            tokens,
            measuring=measuring,
            started=lambda: click.echo(f"Serving {target} on {url}"),
            stopping=lambda: click.echo("Stopping; a second signal ends the process at once", err=True),
            seconds=seconds,
        )
    for line in report.summary(list(watchdog.locations.values()), tokens, requests, warn, lessons.change):
        click.echo(line)
    if check and watchdog.blocked:
        raise click.exceptions.Exit(1)


@contextmanager
def _live(target: str, url: str) -> Iterator[AbstractContextManager[None]]:
    """Starts a live page for the app at `url`, and yields a context manager that measures the app's event loop."""
    from app.telemetry.metrics.prometheus import served
    from app.telemetry.metrics.service import LoopMetrics
    from local.live.page_config import PageConfig, ShownService
    from local.live.start import start  # only the live page needs the imports in this function

    configure_logging(Settings(log_level="WARNING"))  # hides the log line that names the address of /metrics
    metrics = LoopMetrics(fine=True)
    with served(metrics.instruments, LOOPBACK, 0) as port, start() as page:
        page.show(PageConfig([ShownService(target, "", "", url, f"http://{LOOPBACK}:{port}/metrics")]))
        yield metrics.measuring()


def _found(location: Location, stack: Stack, seconds: float) -> None:
    click.echo(report.found(location, stack, seconds))
