"""Builds the live page's configuration from the local runs that the page shows."""

from app.settings import Release, WebSettings
from local import delay, lessons
from local.live.page_config import PageConfig, ShownService
from local.local_run import LocalRun
from local.local_settings import LocalSettings


def page_config(runs: list[tuple[LocalRun, Release]], settings: WebSettings, options: LocalSettings) -> PageConfig:
    """Returns the live page's configuration. The page shows the service of each run, and can send webhooks to it."""
    services = [_service(run, release, settings, options) for run, release in runs]
    return PageConfig(services, options.live_port, options.sqs_delay)


def _service(run: LocalRun, release: Release, settings: WebSettings, options: LocalSettings) -> ShownService:
    assert run.url is not None
    password = settings.basic_auth_password
    return ShownService(
        name=release.value,
        change=lessons.change(release),
        cost=lessons.cost(release),
        waits=lessons.WAITS.get(release, ""),
        url=run.url,
        metrics=run.metrics,
        sqs=run.endpoint + delay.PATH,
        ca_bundle=run.ca_bundle,
        chargebee=run.chargebee if options.worker or not release.enqueues else None,
        user=settings.basic_auth_username or "demo",
        password=password.get_secret_value() if password else "demo",
    )
