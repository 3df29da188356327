"""Runs the queue of a service under attack: a queue process behind toxiproxy, outside of the service's budget."""

import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from loadtest.record.folders import ROOT
from loadtest.stage import queues, tools, toxiproxy
from loadtest.stage.queues import QueueProcess
from loadtest.stage.stand_in import BINARY, StandIn
from loadtest.stage.toxiproxy import Proxy, Toxic
from local.embedded_aws import EmbeddedAws
from local.tls import Certificates, certificates

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

# The share of botocore's CAs in each bundle. Loading all CAs takes 25 ms under OpenSSL 3.0. It took 4.6 ms under 1.1.1,
# which the original service's image presumably had. `openssl-1.1` has so few CAs that they load in 4.6 ms under 3.0.
# `python -m loadtest ca-bundle` measures the time on this machine.
BUNDLES = {"full": 1.0, "openssl-1.1": 4.6 / 25}
USER = PASSWORD = "demo"  # noqa: S105  # as in a local run


@dataclass(frozen=True)
class Stack:
    """A running queue. `proxy` adds the latency and other faults. The client `sqs` does not use the proxy."""

    process: QueueProcess
    toxics: list[Toxic]
    proxy: Proxy
    sqs: "SQSClient"
    tls: Certificates | None

    @property
    def far(self) -> str:
        """Returns the queue's endpoint through the proxy, which adds latency."""
        return self.proxy.url

    @property
    def queue(self) -> str:
        """Returns a description of the queue for results, such as `SQS stand-in, TLS`."""
        return f"{self.process.name}, TLS" if self.tls else self.process.name

    def new_queue(self) -> str:
        """Creates an empty queue. Returns its URL at the queue process itself, not at the proxy, which adds latency."""
        return self.sqs.create_queue(QueueName=f"attack-{uuid.uuid4().hex}")["QueueUrl"]

    def environment(self, queue_url: str) -> dict[str, str]:
        """Returns the environment variables of a service that uses this queue through the proxy."""
        return variables(self.far, self.tls, queue_url)


def variables(endpoint: str, tls: Certificates | None, queue_url: str) -> dict[str, str]:
    """Returns the environment variables of a service that uses the queue `queue_url`, but calls it at `endpoint`."""
    aws = EmbeddedAws(0, endpoint, tls.bundle if tls else None).environment()
    return settled(aws) | {"APP_SQS_QUEUE_URL": f"{endpoint}/{queue_url.split('/', 3)[3]}"}


def settled(aws: dict[str, str]) -> dict[str, str]:
    """Returns the variables `aws`, and those that every service under attack gets."""
    return aws | {
        "APP_BASIC_AUTH_USERNAME": USER,
        "APP_BASIC_AUTH_PASSWORD": PASSWORD,
        "APP_DRAIN_DELAY": "0",
        "APP_GRACEFUL_TIMEOUT": "1",
        "APP_LOG_FORMAT": "json",
    }


class Far(Protocol):
    """The queue or the table of a service under attack, behind toxiproxy, which adds network latency.

    `process` answers the service's calls. `toxics`: the delays and faults that toxiproxy adds. `far`: toxiproxy's URL.
    """

    @property
    def process(self) -> QueueProcess: ...
    @property
    def toxics(self) -> list[Toxic]: ...
    @property
    def tls(self) -> Certificates | None: ...
    @property
    def far(self) -> str: ...


def choose(wanted: str, tls: Certificates | None) -> QueueProcess:
    """Returns the queue process that `wanted` names, and builds its program first if necessary.

    `wanted`: `stand-in`, `embedded` or `auto`. `auto` means the stand-in if its binary exists or Go can build it, and
    otherwise the embedded AWS. Raises FileNotFoundError if the stand-in is wanted, but the binary and Go are missing.
    Raises CalledProcessError if the build fails.
    """
    go = tools.go()
    if wanted == "embedded" or (wanted == "auto" and not go and not BINARY.exists()):
        return queues.Embedded(tls)
    if go:
        subprocess.run(["make", "--silent", str(BINARY.relative_to(ROOT))], cwd=ROOT, check=True)
    elif not BINARY.exists():
        raise FileNotFoundError(f"--queue={wanted}: go not on PATH; allowed: embedded")
    return StandIn(bodies=False, tls=tls)


@contextmanager
def open_stack(wanted: str, toxics: list[Toxic], *, plain: bool = False, bundle: str = "full") -> Iterator[Stack]:
    """Starts the queue and toxiproxy on free ports, and kills them at the end. `plain`: without TLS.

    `bundle`: the CA bundle that clients load, one of BUNDLES.
    """
    with nullcontext() if plain else certificates(BUNDLES[bundle]) as tls:
        process = choose(wanted, tls)
        try:
            process.start()
            with toxiproxy.proxy(process.endpoint, toxics) as proxy:
                yield Stack(process, toxics, proxy, queues.client(process.endpoint, tls.ca if tls else None), tls)
        finally:
            process.kill()
