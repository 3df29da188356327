"""blockbuster finds no blocking call on the event loop of v08 and later releases."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.settings import NEWEST, Release
from loadtest.stage.queues import QueueProcess
from local.sample_events import SAMPLES, fresh_events
from tests.harness.service import Web, environment
from tests.web.strict_service import FOUND

NATIVE = [
    pytest.param(release, marks=() if release is NEWEST else pytest.mark.slow)
    for release in Release
    if release >= Release.V08_NATIVE_ASYNC
]
COMMAND = [sys.executable, "-m", "tests.web.strict_service"]


@pytest.mark.slow
@pytest.mark.parametrize("release", NATIVE, ids=str)
def test_nothing_blocks(aws: QueueProcess, queue_url: str, event: bytes, release: Release) -> None:
    """Accepted and rejected webhooks, probes and a stop make no blocking call, and each request is answered."""
    with Web(environment(aws.endpoint, queue_url, release=release, sqs_timeout=60, max_wait=0), command=COMMAND) as web:
        with web.client() as client, ThreadPoolExecutor(20) as senders:
            posted = [client.post("/webhooks/chargebee", content=body).status_code for body in fresh_events(event, 5)]
            posted += [answer.status_code for answer in senders.map(web.post, fresh_events(event, 100))]
            odd = [file.read_bytes() for file in sorted(SAMPLES.glob("*.json"))]
            assert {client.post("/webhooks/chargebee", content=body).status_code for body in odd} == {200}
            assert client.post("/webhooks/chargebee", content=b"{}").status_code == 422
            assert client.post("/webhooks/chargebee", content=event, auth=("nobody", "")).status_code == 401
            assert client.get("/healthz").status_code == client.get("/readyz").status_code == 200
        assert set(posted) == {200}
        assert web.stop() == 0
    found = [[line["message"], *line["stack"]] for line in web.lines if FOUND in line["message"]]
    assert not found, "\n".join("\n  ".join(lines) for lines in found)


def test_what_blocks_is_found(aws: QueueProcess, queue_url: str, event: bytes) -> None:
    """In v02, blockbuster finds the blocking call in app/sqs/blocking.py, so the test above can fail."""
    with Web(environment(aws.endpoint, queue_url, release=Release.V02_BLOCKING), command=COMMAND) as web:
        web.post(event)
        web.wait_for(FOUND)
    stacks = [line["stack"] for line in web.lines if FOUND in line["message"]]
    assert any("app/sqs/blocking.py" in place for stack in stacks for place in stack)
