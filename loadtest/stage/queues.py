"""Processes that serve queues: the embedded AWS and the stand-in. After a kill, each can start again on its port."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import boto3
from botocore.config import Config

from local import embedded_aws
from local.embedded_aws import EmbeddedAws
from local.ports import free_port
from local.tls import Certificates

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient


class QueueProcess(Protocol):
    """A process that serves queues at `endpoint`. It can be killed and started again."""

    name: str
    endpoint: str

    @property
    def pid(self) -> int:
        """Returns the id of the running process."""
        ...

    def start(self) -> None: ...

    def kill(self) -> None: ...


class Embedded:
    """The embedded AWS, an emulator that `make run` uses as well: see `local.embedded_aws`."""

    name = "embedded (ministack)"

    def __init__(self, tls: Certificates | None = None) -> None:
        self._tls = tls
        self._running: AbstractContextManager[EmbeddedAws] | None = None
        self._port = free_port()  # a port that no outgoing connection can take after `kill`: see `local.ports`

    def start(self) -> None:
        self._running = embedded_aws.start(self._port, tls=self._tls)
        entered = self._running.__enter__()
        self.endpoint, self._pid = entered.endpoint, entered.pid
        self._port = int(self.endpoint.rpartition(":")[2])

    @property
    def pid(self) -> int:
        return self._pid

    def kill(self) -> None:
        if self._running is not None:
            self._running.__exit__(None, None, None)
            self._running = None


def client(endpoint: str, ca: Path | None = None) -> "SQSClient":
    """Returns a boto3 client for a local queue process, with fixed region and credentials. The client trusts `ca`."""
    return boto3.client(
        "sqs",
        endpoint_url=endpoint,
        verify=str(ca) if ca else None,
        region_name=embedded_aws.REGION,
        aws_access_key_id="local",
        aws_secret_access_key="local",  # noqa: S106  # the stand-in checks this key, and emulators accept any
        config=Config(retries={"total_max_attempts": 1}, max_pool_connections=16),
    )


def client_elsewhere(endpoint: str | None) -> "SQSClient":
    """Returns a boto3 client for an existing queue: at `endpoint` or, if None, on AWS with the user's credentials."""
    return boto3.client("sqs") if endpoint is None else client(endpoint)
