"""Local runs as what the live page shows."""

from app.live.subject import Order, Subject
from app.local import delay
from app.local.run import LocalRun
from app.settings import Release, Settings
from app.web.releases import lessons


def order(runs: list[tuple[LocalRun, Release]], settings: Settings) -> Order:
    """Services of a release each; `settings`: the credentials of webhooks, the latency of SQS, the page's port."""
    subjects = [_subject(run, release, settings) for run, release in runs]
    return Order(subjects, settings.live_port or 0, settings.local_sqs_delay)


def _subject(run: LocalRun, release: Release, settings: Settings) -> Subject:
    assert run.url is not None
    password = settings.basic_auth_password
    return Subject(
        name=release.value,
        change=lessons.change(release),
        cost=lessons.cost(release),
        url=run.url,
        metrics=run.metrics,
        sqs=run.endpoint + delay.PATH,
        ca_bundle=run.ca_bundle,
        chargebee=run.chargebee if settings.local_worker or not release.enqueues else None,
        user=settings.basic_auth_username or "demo",
        password=password.get_secret_value() if password else "demo",
    )
