"""Local mode: an embedded AWS with its queues and its table, a stand-in for Chargebee's API, and `.run/local.json`
with their addresses for other terminals.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pydantic import SecretStr

from app.errors import ConfigurationError
from app.local import embedded_aws
from app.local.chargebee import process as chargebee
from app.local.chargebee.process import ChargebeeApi
from app.local.embedded_aws import EmbeddedAws
from app.local.lock import hold, is_held
from app.local.resources import create_queues, create_table
from app.local.tls import certificates
from app.settings import Settings

# What a deployment sets and local mode brings.
BROUGHT = (
    "APP_SQS_QUEUE_URL",
    "APP_DEAD_LETTER_QUEUE_URL",
    "APP_BILLING_TABLE",
    "APP_CHARGEBEE_URL",
    "APP_CHARGEBEE_API_KEY",
)


@dataclass(frozen=True)
class LocalRun:
    """The content of `.run/local.json`. `url` is the service's, once its port is bound; `ca_bundle` with TLS.

    `chargebee`: the URL of the stand-in for Chargebee's API, and of its page; `table`: of the billing work, at
    `endpoint`; `metrics`: the URL of the service's Prometheus text, where it has one.
    """

    pid: int
    endpoint: str
    queue_url: str
    dead_letter_queue_url: str
    chargebee: str
    chargebee_api_key: str
    table: str
    ca_bundle: str | None = None
    url: str | None = None
    metrics: str | None = None

    def aws(self) -> EmbeddedAws:
        return EmbeddedAws(self.pid, self.endpoint, Path(self.ca_bundle) if self.ca_bundle else None)

    def write(self, run_dir: Path) -> None:
        unfinished = run_dir / "local.json.new"
        unfinished.write_text(json.dumps(asdict(self), indent=2) + "\n")
        unfinished.replace(run_dir / "local.json")


def read_run(run_dir: Path) -> LocalRun:
    """The running local run. Raises ConfigurationError where there is none (any more)."""
    file = run_dir / "local.json"
    try:
        run = LocalRun(**json.loads(file.read_text()))
    except (FileNotFoundError, NotADirectoryError):
        raise ConfigurationError(f"no local run: {file} does not exist; start one with `make run`") from None
    except (OSError, ValueError, TypeError, RecursionError):
        raise ConfigurationError(f"{file} is not readable: delete it and start again with `make run`") from None
    if not is_held(run_dir):
        raise ConfigurationError(
            f"the local run of {file} has ended (process {run.pid} is gone); start one with `make run`"
        )
    return run


@contextmanager
def local_run(settings: Settings) -> Iterator[LocalRun]:
    """An embedded AWS with its queues; from here on, the AWS SDKs of this process use it, and no real account.

    Raises ConfigurationError where another run already uses the same APP_RUN_DIR.
    """
    tls = certificates() if settings.local_tls else nullcontext()
    with (
        hold(settings.run_dir),
        tls as issued,
        embedded_aws.start(delay=settings.local_sqs_delay, tls=issued) as aws,
        chargebee.start(rate=settings.chargebee_rate, latency=settings.local_chargebee_delay) as api,
    ):
        shield(aws)
        run = _create(aws, api)
        run.write(settings.run_dir)
        try:
            yield run
        finally:
            (settings.run_dir / "local.json").unlink(missing_ok=True)


def announce(run: LocalRun, run_dir: Path, url: str, metrics: str | None = None) -> LocalRun:
    """Adds the service's address to `local.json`, and that of its metrics."""
    run = replace(run, url=url, metrics=metrics)
    run.write(run_dir)
    return run


def deployed(settings: Settings, run: LocalRun) -> Settings:
    """`settings` as in a deployment with the stand-ins of `run`, with local mode's defaults."""
    changes: dict[str, object] = {
        "local": False,
        "sqs_queue_url": run.queue_url,
        "dead_letter_queue_url": run.dead_letter_queue_url,
        "billing_table": run.table,
        "chargebee_url": run.chargebee,
        "chargebee_api_key": SecretStr(run.chargebee_api_key),
    }
    if settings.basic_auth_username is None:
        changes |= {"basic_auth_username": "demo", "basic_auth_password": SecretStr("demo")}
    if "docs" not in settings.model_fields_set:
        changes["docs"] = True
    if settings.release.published and "max_wait" not in settings.model_fields_set:
        # The published service had no such limit, and a 503 would hide what waiting is like under it.
        changes["max_wait"] = 0
    if settings.live_port is not None:
        # The page reads the metrics. It is started already, and is for local mode alone.
        changes |= {"live_port": None, "metrics_port": settings.metrics_port or 0}
    return settings.model_copy(update=changes)


def shield(aws: EmbeddedAws) -> None:
    """Replaces the AWS account of this process's environment by the embedded one."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]
    os.environ.update(aws.environment())


def _create(aws: EmbeddedAws, api: ChargebeeApi) -> LocalRun:
    import boto3  # a third of a second, which the other commands save

    # A session of its own: boto3's default one stays as cold for the service as in a deployment.
    session = boto3.Session()
    queue, dead_letters = create_queues(session.client("sqs"))
    table = create_table(session.client("dynamodb"))
    ca_bundle = str(aws.ca_bundle) if aws.ca_bundle else None
    return LocalRun(os.getpid(), aws.endpoint, queue, dead_letters, api.url, api.api_key, table, ca_bundle)
