"""Provides a service that keeps its cyclic garbage, so that tests can count it."""

import contextlib
import signal
import ssl
import sys
from collections.abc import Iterator

import pytest

from local.tls import certificates
from tests.harness.service import Web, environment
from tests.harness.sqs_stand_in import SqsStandIn

SECONDS = 10  # the service's time-out for SQS, which runs in the test's process and may pause with this process


class Stage:
    """A service that keeps its cyclic garbage, and its SQS."""

    def __init__(self, service: Web, sqs: SqsStandIn) -> None:
        self.service, self.sqs = service, sqs
        self._reports = 0

    def garbage(self) -> dict[str, int]:
        """Returns how many objects in reference cycles were found since the last call, by type."""
        self.service.process.send_signal(signal.SIGUSR1)
        self._reports += 1
        return dict(self.service.log(message="garbage", number=self._reports)["types"])


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """Runs the newest release on uvloop, because asyncio's own transports are reference cycles themselves."""
    with contextlib.ExitStack() as stack:
        files = stack.enter_context(certificates(0))
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(files.certificate, files.key)
        sqs = stack.enter_context(SqsStandIn(tls))
        limits = {"sqs_timeout": SECONDS, "body_timeout": 4, "head_timeout": 4, "max_wait": 0}
        variables = environment(sqs.endpoint, sqs.queue_url, **limits)
        command = [sys.executable, "-m", "tests.harness.garbage", "web"]
        service = stack.enter_context(Web(variables | {"AWS_CA_BUNDLE": str(files.bundle)}, command=command))
        stage = Stage(service, sqs)
        stage.garbage()  # discards the garbage of the start
        yield stage
