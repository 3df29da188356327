"""The queue of a service under attack: a queue process behind toxiproxy, outside the service's budget."""

import shutil
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.local.embedded_aws import EmbeddedAws
from loadtest.record.folders import ROOT
from loadtest.stage import queues, toxiproxy
from loadtest.stage.queues import QueueProcess
from loadtest.stage.toxiproxy import Toxic

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

USER = PASSWORD = "demo"  # noqa: S105  # as in local mode


@dataclass(frozen=True)
class Stack:
    """A running queue. `far` is its endpoint with the added latency, `sqs` a client without it."""

    queue: str
    toxics: list[Toxic]
    far: str
    sqs: "SQSClient"

    def new_queue(self) -> str:
        """Creates an empty queue; its URL at the client's endpoint, without the latency."""
        return self.sqs.create_queue(QueueName=f"attack-{uuid.uuid4().hex}")["QueueUrl"]

    def environment(self, queue_url: str) -> dict[str, str]:
        """Variables with which a service uses that queue with the latency."""
        return EmbeddedAws(0, self.far).environment() | {
            "APP_SQS_QUEUE_URL": f"{self.far}/{queue_url.split('/', 3)[3]}",
            "APP_BASIC_AUTH_USERNAME": USER,
            "APP_BASIC_AUTH_PASSWORD": PASSWORD,
            "APP_DRAIN_DELAY": "0",
            "APP_GRACEFUL_TIMEOUT": "1",
            "APP_LOG_FORMAT": "json",
        }


def choose(wanted: str) -> QueueProcess:
    """`auto`: ElasticMQ if there is Java, and its jars or Maven; else the embedded one. Raises FileNotFoundError."""
    if wanted == "embedded":
        return queues.Embedded()
    lacks = [tool for tool in ("java", "mvn") if shutil.which(tool) is None]
    if queues.CLASSPATH.exists() and "mvn" in lacks:
        lacks.remove("mvn")
    if not lacks:
        target = str(queues.CLASSPATH.relative_to(ROOT))
        subprocess.run(["make", "--silent", target], cwd=ROOT, check=True)
        return queues.ElasticMq()
    if wanted == "elasticmq":
        raise FileNotFoundError(
            f"--queue=elasticmq: {' and '.join(lacks)} not on PATH (Java 17, Maven); allowed: embedded"
        )
    return queues.Embedded()


@contextmanager
def open_stack(wanted: str, toxics: list[Toxic]) -> Iterator[Stack]:
    """Starts both on free ports, and kills them at the end."""
    process = choose(wanted)
    try:
        process.start()
        with toxiproxy.proxy(process.endpoint, toxics) as far:
            yield Stack(process.name, toxics, far, queues.client(process.endpoint))
    finally:
        process.kill()
