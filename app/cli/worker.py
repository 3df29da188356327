"""`python -m app worker`: receives messages from the queue, and bills their invoices."""

import os
import socket
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import click

from app.billing.processing import open_billing
from app.from_settings import billing_access
from app.settings import WorkerSettings, load_worker_settings
from app.settings.text import listing
from app.sqs.queue import QueueAddress
from app.sqs.sdk import require_credentials, require_sdk
from app.sqs.unattended import require_unattended, warn_of_another_queue
from app.telemetry.logging import configure_logging
from app.telemetry.observers import exported, make_worker_observers
from app.telemetry.stderr import replace_stderr
from app.worker.handle import Process
from app.worker.last_event import noting
from app.worker.retry import BASE_SECONDS
from app.worker.worker_process import run

_SETTINGS = f"\b\nSettings, from the environment (default in brackets):\n{listing(WorkerSettings)}"


@click.command(epilog=_SETTINGS)
def worker() -> None:
    """Receive messages from the queue, and charge and close their invoices.

    APP_SQS_QUEUE_URL, APP_DEAD_LETTER_QUEUE_URL, APP_BILLING_TABLE, APP_CHARGEBEE_URL and APP_CHARGEBEE_API_KEY must be
    set. The AWS SDK's variables, such as AWS_DEFAULT_REGION, set the region, the credentials and the endpoint.

    After SIGTERM or Ctrl-C, the worker receives no more messages. If it has not begun to process a message, it makes
    the message visible in the queue again. It waits at most APP_GRACEFUL_TIMEOUT seconds for the messages that it is
    processing. A second signal ends the worker at once.
    """
    work()


def work(*, retry: float = BASE_SECONDS) -> None:
    """Runs a worker with the settings from the environment. Raises ConfigurationError.

    `retry`: the longest delay before the first retry of a message, in seconds.
    """
    settings = load_worker_settings()
    log = replace_stderr()
    configure_logging(settings)
    access = billing_access(settings)
    settings.require_dead_letter_queue_url()
    queue_url = settings.require_queue_url()
    require_sdk()
    require_unattended()
    require_credentials()
    warn_of_another_queue(queue_url)
    observers = make_worker_observers(settings, QueueAddress.at(queue_url).name)
    log.add_to(observers.metrics)
    owner = f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"

    @asynccontextmanager
    async def opened() -> AsyncIterator[Process]:
        opening = open_billing(access, owner, observers.of_calls())
        async with opening as billing, noting(billing.table, billing.process) as process:
            yield process

    with exported(observers, settings):
        run(settings, opened, observers, retry=retry)
