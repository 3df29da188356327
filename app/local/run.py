"""Local mode: an embedded AWS with its queues, and `.run/local.json` with its address for other terminals."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pydantic import SecretStr

from app.errors import ConfigurationError
from app.local import embedded_aws
from app.local.embedded_aws import EmbeddedAws
from app.local.tls import certificates
from app.settings import Settings

QUEUE = "invoice-webhooks"
DEAD_LETTER_QUEUE = "invoice-webhooks-dead-letters"
# As for a production queue: after five receives without a delete, a message moves to the dead-letter queue.
MAX_RECEIVE_COUNT = 5


@dataclass(frozen=True)
class LocalRun:
    """The content of `.run/local.json`. `url` is the service's, once its port is bound; `ca_bundle` with TLS.

    `metrics`: the URL of its Prometheus text, where it has one.
    """

    pid: int
    endpoint: str
    queue_url: str
    dead_letter_queue_url: str
    ca_bundle: str | None = None
    url: str | None = None
    metrics: str | None = None

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
    except (ValueError, TypeError):
        raise ConfigurationError(f"{file} is not readable: delete it and start again with `make run`") from None
    if not _locked(run_dir):
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
    with _lock(settings.run_dir), tls as issued, embedded_aws.start(delay=settings.local_sqs_delay, tls=issued) as aws:
        _shield(aws)
        run = _create_queues(aws)
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
    """`settings` as in a deployment with the queue of `run`, with local mode's defaults."""
    changes: dict[str, object] = {"local": False, "sqs_queue_url": run.queue_url}
    if settings.basic_auth_username is None:
        changes |= {"basic_auth_username": "demo", "basic_auth_password": SecretStr("demo")}
    if "docs" not in settings.model_fields_set:
        changes["docs"] = True
    if settings.live_port is not None:
        # The page reads the metrics. It is started already, and is for local mode alone.
        changes |= {"live_port": None, "metrics_port": settings.metrics_port or 0}
    return settings.model_copy(update=changes)


def _shield(aws: EmbeddedAws) -> None:
    """Replaces the environment's AWS account by the embedded one."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]
    os.environ.update(aws.environment())


def _create_queues(aws: EmbeddedAws) -> LocalRun:
    import boto3  # a third of a second, which the other commands save

    # A session of its own: boto3's default one stays as cold for the service as in a deployment.
    sqs = boto3.Session().client("sqs")
    dead_letters = sqs.create_queue(QueueName=DEAD_LETTER_QUEUE)["QueueUrl"]
    attributes = sqs.get_queue_attributes(QueueUrl=dead_letters, AttributeNames=["QueueArn"])["Attributes"]
    redrive = {"deadLetterTargetArn": attributes["QueueArn"], "maxReceiveCount": MAX_RECEIVE_COUNT}
    queue = sqs.create_queue(QueueName=QUEUE, Attributes={"RedrivePolicy": json.dumps(redrive)})["QueueUrl"]
    ca_bundle = str(aws.ca_bundle) if aws.ca_bundle else None
    return LocalRun(os.getpid(), aws.endpoint, queue, dead_letters, ca_bundle)


@contextmanager
def _lock(run_dir: Path) -> Iterator[None]:
    """Holds `local.lock` while this process runs, however it ends; a process id alone could have been reused."""
    try:
        run_dir.mkdir(parents=True, exist_ok=True)
        file = (run_dir / "local.lock").open("w")
    except OSError as error:
        raise ConfigurationError(f"APP_RUN_DIR={run_dir}: cannot be used ({error}); allowed is a folder") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ConfigurationError(
                f"APP_RUN_DIR={run_dir}: in use by another local run; stop it, or name another folder"
            ) from None
        yield


def _locked(run_dir: Path) -> bool:
    """Whether a local run holds the lock."""
    try:
        with (run_dir / "local.lock").open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False
