"""Stops a real process whose SQS accepts connections, but has not responded since the start."""

import signal
from collections.abc import Iterator

import pytest

from app.settings import NEWEST, Release
from tests.harness.raw import RawSender
from tests.harness.service import ASGI, CALLBACKS, Service
from tests.harness.sqs_stand_in import SqsStandIn

# botocore makes two attempts, each of half of this time.
SQS_SECONDS = 60
# Long enough for a busy machine, and less than an attempt.
STOP_SECONDS = 20


@pytest.fixture
def silent() -> Iterator[SqsStandIn]:
    with SqsStandIn() as sqs:
        sqs.hold("GetQueueUrl")
        yield sqs


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("release", [pytest.param(Release.V09_GROUP_COMMIT, marks=pytest.mark.slow), NEWEST], ids=str)
def test_one_signal(silent: SqsStandIn, release: Release, sig: signal.Signals) -> None:
    """The process ends with code 0. It does not wait for the calls to SQS that its start has made."""
    settings = {"release": release, "drain_delay": 0, "sqs_timeout": SQS_SECONDS}
    with Service(silent.endpoint, silent.queue_url, **settings) as service:
        assert service.stop(sig, STOP_SECONDS) == 0


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal(silent: SqsStandIn, second: signal.Signals) -> None:
    """The process ends at once, with code 0."""
    with Service(silent.endpoint, silent.queue_url, drain_delay=300, sqs_timeout=SQS_SECONDS) as service:
        service.process.send_signal(signal.SIGTERM)
        service.wait_for("Draining")
        assert service.stop(second, STOP_SECONDS) == 0


@pytest.mark.parametrize("served", [ASGI, CALLBACKS], ids=str)
def test_a_second_signal_during_the_shutdown(stand_in: SqsStandIn, event: bytes, served: Release) -> None:
    """After a second signal, the process does not wait for a call to SQS whose sender has disconnected."""
    stand_in.hold("SendMessageBatch")
    settings = {"release": served, "drain_delay": 0, "graceful_timeout": 1, "sqs_timeout": SQS_SECONDS}
    with Service(stand_in.endpoint, stand_in.queue_url, **settings) as service:
        with RawSender(service.address) as sender:
            sender.head(f"Content-Length: {len(event)}")
            sender.send(event)
            stand_in.wait_for("SendMessageBatch", 1)
        service.process.send_signal(signal.SIGTERM)
        service.wait_for("Waiting for application shutdown")
        assert service.stop(signal.SIGINT, STOP_SECONDS) == 0
    assert not any("lifespan" in line["message"] for line in service.lines)
