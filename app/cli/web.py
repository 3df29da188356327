"""`python -m app web`: serve."""

from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

import click
from loguru import logger

from app.local.run import LocalRun, announce, deployed, local_run
from app.settings import Settings, load_settings
from app.settings.text import listing
from app.sqs.account import require_direct
from app.sqs.sdk import require_sdk
from app.telemetry.logging import configure_logging
from app.telemetry.observers import exported, make_observers
from app.web import exposure
from app.web.endpoint import entrance
from app.web.main import create_app
from app.web.server.serve import serve
from app.web.webhook import PATH

if TYPE_CHECKING:
    from app.live.start import LivePage

_SETTINGS = f"\b\nSettings, from the environment (default in brackets):\n{listing(Settings)}"


@click.command(epilog=_SETTINGS)
def web() -> None:
    """Serve: POST /webhooks/chargebee in, SQS messages out.

    With APP_LOCAL=1 it starts an embedded queue, and a stand-in for Chargebee's API; with APP_LOCAL_WORKER=1 also
    a worker, which closes invoices there. Otherwise APP_SQS_QUEUE_URL,
    APP_BASIC_AUTH_USERNAME and APP_BASIC_AUTH_PASSWORD must be set; for v01, which has no queue,
    APP_BILLING_TABLE, APP_CHARGEBEE_URL and APP_CHARGEBEE_API_KEY. Region, credentials and endpoint
    of AWS are configured as for any AWS SDK: AWS_DEFAULT_REGION and so on.

    SIGTERM drains (see APP_DRAIN_DELAY), Ctrl-C finishes requests in flight, a second signal exits at once.
    """
    settings = load_settings()
    configure_logging(settings)
    with ExitStack() as stack:
        local = None
        if settings.local:
            run = stack.enter_context(local_run(settings))
            _billing(stack, run, settings)
            local = partial(_announce, run, settings, _live_page(stack, settings))
            settings = deployed(settings, run)
        settings.require_production()
        require_sdk()
        if settings.release.direct:
            require_direct(settings)
        exposure.warn(settings, local=local is not None)
        observers = make_observers(settings, "POST", PATH, fine=local is not None)
        app = create_app(settings, observers)
        metrics_port = stack.enter_context(exported(observers, settings))
        on_bound = partial(local, metrics_port) if local else None
        serve(entrance(app, settings), settings, drain=app.state.admission.drain, on_bound=on_bound)


def _billing(stack: ExitStack, run: LocalRun, settings: Settings) -> None:
    """A worker that closes invoices, and pending ones for the webhooks of README, where APP_LOCAL_WORKER is set.

    v01 has no queue to work from, and closes them itself.
    """
    logger.info("Chargebee's stand-in, with a page of its invoices, on {}", run.chargebee)
    if not settings.local_worker:
        return
    from app.local import billables, worker  # not imported without APP_LOCAL_WORKER
    from app.local.sample_events import default_file, sample_files

    billables.seed(run, (file.read_bytes() for file in [default_file(), *sample_files()]))
    if settings.release.enqueues:
        stack.enter_context(worker.start(run))


def _live_page(stack: ExitStack, settings: Settings) -> "LivePage | None":
    if settings.live_port is None:
        return None
    from app.live.start import start  # not imported without APP_LIVE_PORT

    return stack.enter_context(start())


def _announce(run: LocalRun, settings: Settings, page: "LivePage | None", metrics: int | None, url: str) -> None:
    """Tells other terminals and the live page where the service is."""
    host = f"[{settings.metrics_host}]" if ":" in settings.metrics_host else settings.metrics_host
    run = announce(run, settings.run_dir, url, f"http://{host}:{metrics}/metrics" if metrics else None)
    if page is not None:
        from app.cli.subjects import order  # not imported without APP_LIVE_PORT

        page.show(order([(run, settings.release)], settings))
