"""A source of credentials fails at the start, as a metadata service or a pod's agent may."""

from functools import partial

import pytest

from app.settings import Release
from loadtest.stage.queues import QueueProcess
from tests.harness.service import Web, environment

FAILING = {
    "AWS_ACCESS_KEY_ID": "",
    "AWS_SECRET_ACCESS_KEY": "",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://refused-by-botocore.example",
}
slow = partial(pytest.param, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    "release",
    [
        Release.V03_THREADPOOL,
        Release.V11_WITHOUT_ASGI,
        *map(slow, [Release.V02_BLOCKING, Release.V04_MORE_TOKENS, Release.V05_ASYNC_DEPENDENCY]),
        slow(Release.V10_LEAN_CLIENT),
    ],
)
def test_a_source_of_credentials_that_fails(aws: QueueProcess, queue_url: str, release: Release, event: bytes) -> None:
    """The service starts with a warning. A webhook gets 503, and the log says that it was not enqueued."""
    with Web(environment(aws.endpoint, queue_url, release=release) | FAILING) as service:
        service.wait_for("yet: ValueError")
        assert service.post(event).status_code == 503
        assert service.log(outcome="queue-unavailable")["delivery"] == "not sent"
