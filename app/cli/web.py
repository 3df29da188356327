"""`python -m app web`: serve."""

from contextlib import ExitStack
from functools import partial

import click

from app.local.run import announce, deployed, local_run
from app.settings import Settings, load_settings
from app.settings.text import listing
from app.sqs.account import require_region
from app.telemetry.logging import configure_logging
from app.web.endpoint import entrance
from app.web.main import create_app
from app.web.server.serve import serve

_SETTINGS = f"\b\nSettings, from the environment (default in brackets):\n{listing(Settings)}"


@click.command(epilog=_SETTINGS)
def web() -> None:
    """Serve: POST /webhooks/chargebee in, SQS messages out.

    With APP_LOCAL=1 it starts an embedded queue; otherwise APP_SQS_QUEUE_URL,
    APP_BASIC_AUTH_USERNAME and APP_BASIC_AUTH_PASSWORD must be set. Region, credentials and endpoint
    of AWS are configured as for any AWS SDK: AWS_DEFAULT_REGION and so on.

    SIGTERM drains (see APP_DRAIN_DELAY), Ctrl-C finishes requests in flight, a second signal exits at once.
    """
    settings = load_settings()
    configure_logging(settings)
    with ExitStack() as stack:
        on_bound = None
        if settings.local:
            run = stack.enter_context(local_run(settings))
            on_bound = partial(announce, run, settings.run_dir)
            settings = deployed(settings, run)
        settings.require_production()
        require_region()
        app = create_app(settings)
        serve(entrance(app, settings), settings, drain=app.state.admission.drain, on_bound=on_bound)
