"""Starts the stand-ins of a local run: an embedded AWS with queues and a table, and a stand-in for Chargebee's API.

The file `local.json` contains the addresses of the stand-ins and of the service, for commands in other terminals.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from app.errors import ConfigurationError
from local import embedded_aws
from local.chargebee.chargebee_start import ChargebeeApi
from local.chargebee.chargebee_start import start as start_chargebee
from local.embedded_aws import EmbeddedAws
from local.local_settings import LocalSettings
from local.lock import is_locked, lock_run_dir
from local.resources import create_queues, create_table
from local.tls import certificates

# In a deployment, these variables name the real services. A local run sets the variables itself, so that they name the
# stand-ins.
REPLACED = (
    "APP_SQS_QUEUE_URL",
    "APP_DEAD_LETTER_QUEUE_URL",
    "APP_BILLING_TABLE",
    "APP_CHARGEBEE_URL",
    "APP_CHARGEBEE_API_KEY",
)


@dataclass(frozen=True)
class LocalRun:
    """The addresses of a local run, as the file `local.json` contains them.

    `endpoint` is the URL of the embedded AWS. `ca_bundle` is the file of CAs for this URL, or None without TLS.
    `chargebee` is the URL of the stand-in for Chargebee's API, and of the stand-in's web page. `url` is the service's
    URL, or None until the service is ready. `metrics` is the URL of the service's metrics in Prometheus' text format,
    or None without metrics.
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

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """Returns the environment variables for a process that uses the stand-ins of this local run.

        The process gets the stand-ins' addresses, and the variables in `base` except AWS_ and APP_LOCAL_ variables.
        """
        kept = {name: value for name, value in base.items() if not name.startswith(("AWS_", "APP_LOCAL_"))}
        own = (self.queue_url, self.dead_letter_queue_url, self.table, self.chargebee, self.chargebee_api_key)
        return kept | self.aws().environment() | dict(zip(REPLACED, own, strict=True))

    def write(self, run_dir: Path) -> None:
        """Writes `local.json`. Raises ConfigurationError if that is not possible, for example on a full disk."""
        unfinished = run_dir / "local.json.new"
        try:
            unfinished.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")
            unfinished.replace(run_dir / "local.json")
        except OSError as error:
            raise ConfigurationError(
                f"APP_LOCAL_RUN_DIR={run_dir}: cannot write local.json: {error.strerror}"
            ) from None


def read_run(run_dir: Path) -> LocalRun:
    """Returns the running local run that uses the folder `run_dir`. Raises ConfigurationError if there is none."""
    file = run_dir / "local.json"
    try:
        run = LocalRun(**json.loads(file.read_text(encoding="utf-8")))
        is_alive = psutil.pid_exists(run.pid)
    except (FileNotFoundError, NotADirectoryError):
        raise ConfigurationError(f"no local run: {file} does not exist; start one with `make run`") from None
    except (OSError, ValueError, TypeError, OverflowError, RecursionError):
        raise ConfigurationError(f"{file} is not readable: delete it and start again with `make run`") from None
    # The lock alone is not enough: a new run locks the folder before it removes the file of a killed run.
    if not is_alive or not is_locked(run_dir):
        raise ConfigurationError(
            f"the local run of {file} has ended (process {run.pid} is gone); start one with `make run`"
        )
    return run


@contextmanager
def _own(run_dir: Path) -> Iterator[None]:
    """Locks `run_dir` for this run, and removes the file `local.json` of an earlier run that was killed."""
    with lock_run_dir(run_dir):
        (run_dir / "local.json").unlink(missing_ok=True)
        yield


@contextmanager
def start_stand_ins(settings: LocalSettings, calls_a_minute: int) -> Iterator[LocalRun]:
    """Runs the stand-ins until the `with` block ends. `calls_a_minute` is the rate limit of the Chargebee stand-in.

    Raises ConfigurationError if another run uses the same APP_LOCAL_RUN_DIR, or if a stand-in does not start.
    """
    tls = certificates() if settings.tls else nullcontext()
    behaviour: dict[str, Any] = {"rate": calls_a_minute, "latency": settings.chargebee_delay}
    with (
        _own(settings.run_dir),
        tls as issued,
        embedded_aws.start(delay=settings.sqs_delay, tls=issued) as aws,
        start_chargebee(**behaviour) as api,
    ):
        run = _create(aws, api)
        run.write(settings.run_dir)
        try:
            yield run
        finally:
            (settings.run_dir / "local.json").unlink(missing_ok=True)


def _create(aws: EmbeddedAws, api: ChargebeeApi) -> LocalRun:
    queue, dead_letters = create_queues(aws.client("sqs"))
    table = create_table(aws.client("dynamodb"))
    ca_bundle = str(aws.ca_bundle) if aws.ca_bundle else None
    return LocalRun(os.getpid(), aws.endpoint, queue, dead_letters, api.url, api.api_key, table, ca_bundle)
