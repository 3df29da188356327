"""`python -m local race v02 v09`: runs two releases side by side, with one live page for both releases."""

import os
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path

import click

from app.errors import ConfigurationError
from app.settings import Release, load_settings
from local import ctrl_c, lessons
from local.cli.shown_services import page_config
from local.launch import no_rate_limit, start_service
from local.live.start import start
from local.local_run import LocalRun
from local.local_settings import load_local_settings
from local.log_lines import prefixed

MOST = 2  # the live page has at most two columns


@click.command()
@click.argument("releases", nargs=MOST, required=True)
def race(releases: tuple[str, ...]) -> None:
    """Serve two RELEASES, each with its own queue, and one live page for both releases, until Ctrl-C.

    The page's buttons send the same webhooks to both releases. The terminal shows both services' logs, each line with
    its release. APP_LOCAL_LIVE_PORT sets the page's port; the default is a free port.
    """
    settings, options = load_settings(), load_local_settings()
    options = options.model_copy(update={"worker": False})  # a race has no worker that closes invoices
    if "live_port" not in options.model_fields_set:  # the default port may be in use by the live page of `make run`
        options = options.model_copy(update={"live_port": 0})
    chosen = [lessons.find(name) for name in releases]
    ctrl_c.end_like_ctrl_c()  # so that SIGTERM also stops the services and removes their folders
    with suppress(KeyboardInterrupt), ExitStack() as stack:
        page = stack.enter_context(start())
        page.show(page_config([(_started(stack, release), release) for release in chosen], settings, options))
        url = page.url()
        if url is None:
            raise ConfigurationError("the live page did not start in time, or has ended (see its error above)")
        click.echo(f"{' against '.join(chosen)}: {url} (Ctrl-C stops both releases)")
        page.wait()
        raise ConfigurationError("the live page has ended (see its error above)")


def _started(stack: ExitStack, release: Release) -> LocalRun:
    click.echo(f"Starting {release.value} and its queue", err=True)
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    variables = {"APP_RELEASE": release.value, "APP_METRICS_PORT": "0", **_log_settings(), **no_rate_limit()}
    log = stack.enter_context(prefixed(release.value.partition("_")[0]))
    return stack.enter_context(start_service(folder, variables, log))


def _log_settings() -> dict[str, str]:
    """Returns the log settings of the services: the user's values, or else level INFO and format `text`.

    With the format `auto`, a service would write JSON, because its log goes to this process and not to a terminal.
    """
    defaults = {"APP_LOG_LEVEL": "INFO", "APP_LOG_FORMAT": "text"}
    return {name: os.environ.get(name) or default for name, default in defaults.items()}
