"""A queue process: ministack (embedded) or ElasticMQ, each able to die and to come back on its port."""

import shutil
import socket
import subprocess
import time
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import boto3
from botocore.config import Config

from app.local import embedded_aws
from app.local.embedded_aws import EmbeddedAws

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

CLASSPATH = Path(__file__).parents[2] / "loadtest" / "elasticmq" / "target" / "classpath"


class QueueProcess(Protocol):
    """What both emulators can do."""

    endpoint: str

    def start(self) -> None: ...

    def kill(self) -> None: ...


class Ministack:
    """The embedded AWS, as `make run` has it."""

    def __init__(self) -> None:
        self._running: AbstractContextManager[EmbeddedAws] | None = None
        self._port = 0

    def start(self) -> None:
        self._running = embedded_aws.start(self._port)
        self.endpoint = self._running.__enter__().endpoint
        self._port = int(self.endpoint.rpartition(":")[2])

    def kill(self) -> None:
        if self._running is not None:
            self._running.__exit__(None, None, None)
            self._running = None


class ElasticMq:
    """ElasticMQ under Java 17, in memory."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        with closing(socket.create_server(("127.0.0.1", 0))) as free:
            self._port = free.getsockname()[1]
        self.endpoint = f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        java = shutil.which("java")
        assert java is not None, "ElasticMQ needs Java 17"
        options = [
            "rest-sqs.bind-hostname=127.0.0.1",
            f"rest-sqs.bind-port={self._port}",
            "rest-stats.enabled=false",
            "node-address.host=127.0.0.1",
            f"node-address.port={self._port}",
            "generate-node-address=false",
        ]
        command = [java, "-Xmx512m", *(f"-D{option}" for option in options), "-cp", CLASSPATH.read_text().strip()]
        self._process = subprocess.Popen([*command, "org.elasticmq.server.Main"], stdout=subprocess.DEVNULL)
        self._wait()

    def _wait(self) -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self._port), timeout=1).close()
            except OSError:
                time.sleep(0.1)
            else:
                return
        raise TimeoutError("ElasticMQ did not listen within 60 s")

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


PROCESSES: dict[str, type[Ministack] | type[ElasticMq]] = {"ministack": Ministack, "elasticmq": ElasticMq}


def environment(endpoint: str) -> dict[str, str]:
    """What makes an SDK of the service talk to the queue process."""
    return EmbeddedAws(0, endpoint).environment()


def client(endpoint: str) -> "SQSClient":
    """The oracle: boto3, which nobody here wrote."""
    return boto3.client(
        "sqs",
        endpoint_url=endpoint,
        region_name=embedded_aws.REGION,
        aws_access_key_id="local",
        aws_secret_access_key="local",
        config=Config(retries={"total_max_attempts": 1}),
    )


def drain(sqs: "SQSClient", queue_url: str) -> list[tuple[bytes, dict[str, str]]]:
    """Takes every message out of the queue: body and attributes."""
    taken: list[tuple[bytes, dict[str, str]]] = []
    while True:
        messages = sqs.receive_message(
            QueueUrl=queue_url, MaxNumberOfMessages=10, MessageAttributeNames=["All"], WaitTimeSeconds=0
        ).get("Messages", [])
        if not messages:
            return taken
        for message in messages:
            attributes = {name: value["StringValue"] for name, value in message.get("MessageAttributes", {}).items()}
            taken.append((message["Body"].encode(), attributes))
        sqs.delete_message_batch(
            QueueUrl=queue_url,
            Entries=[{"Id": str(i), "ReceiptHandle": m["ReceiptHandle"]} for i, m in enumerate(messages)],
        )
