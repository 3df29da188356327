"""Tests that the embedded AWS's latency can be changed while it runs."""

import time

import httpx

from loadtest.stage.queues import client
from local import delay, embedded_aws


def _put(endpoint: str, body: str, **headers: str) -> int:
    return httpx.put(endpoint + delay.PATH, content=body, headers=headers, timeout=60).status_code


def test_it_changes_at_once() -> None:
    """AWS calls take longer, and queues stay; 0 removes the latency."""
    with embedded_aws.start() as aws:
        sqs = client(aws.endpoint)
        url = sqs.create_queue(QueueName="q")["QueueUrl"]
        assert _put(aws.endpoint, "0.5") == 204
        began = time.monotonic()
        assert sqs.get_queue_url(QueueName="q")["QueueUrl"] == url
        assert time.monotonic() - began >= 0.5
        assert _put(aws.endpoint, "0") == 204
        sqs.close()


def test_what_is_refused() -> None:
    """Wrong latencies and methods are rejected, and so is any website."""
    with embedded_aws.start() as aws:
        assert [_put(aws.endpoint, body) for body in ("", "soon", "-1", "61", "nan", "inf")] == [400] * 6
        assert httpx.post(aws.endpoint + delay.PATH, content="0", timeout=60).status_code == 405
        assert _put(aws.endpoint, "0", Origin="http://attacker.example") == 403
        assert _put(aws.endpoint, "0", Host="attacker.example") == 403
