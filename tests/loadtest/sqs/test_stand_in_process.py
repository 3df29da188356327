"""The process of the stand-in: TLS, its port, its parent, and the SDK for Go."""

import re
import subprocess
from typing import Any

import httpx
import pytest

from loadtest.stage.queues import client
from loadtest.stage.stand_in import BINARY, SOURCES, launch
from tests.harness import queues
from tests.harness.service import NO_CAS


@pytest.mark.parametrize(("name", "dead"), [("q", "q-dead-letters"), ("q.fifo", "q-dead-letters.fifo")])
def test_a_pair_of_queues_from_the_start(built: None, name: str, dead: str) -> None:
    """The redrive policy names the dead-letter queue. Two calls for the cluster's tests count and purge messages."""
    process, endpoint = launch(None, 0, "-bodies", f"-queue={name}")
    sqs = client(endpoint)
    url = sqs.get_queue_url(QueueName=name)["QueueUrl"]
    ids: Any = {"MessageGroupId": "g", "MessageDeduplicationId": "1"} if name.endswith(".fifo") else {}
    sqs.send_message(QueueUrl=url, MessageBody="x", **ids)
    there = httpx.get(f"{endpoint}/_stand-in/attributes?queue={name}", verify=NO_CAS).json()
    assert there["ApproximateNumberOfMessages"] == "1"
    assert there.get("FifoQueue", "false") == str(name.endswith(".fifo")).lower()
    (target,) = re.findall(r'"deadLetterTargetArn": "arn:aws:sqs:us-east-1:0{12}:(.*?)"', there["RedrivePolicy"])
    assert target == dead
    assert sqs.get_queue_url(QueueName=dead)
    httpx.delete(f"{endpoint}/_stand-in/messages?queue={name}", verify=NO_CAS).raise_for_status()
    assert queues.drain(sqs, url) == []
    sqs.close()
    with process:
        process.kill()


def test_it_ends_with_its_parent(built: None) -> None:
    """The process ends when its standard input is closed, which happens when the parent ends."""
    with subprocess.Popen([BINARY, "-exit-with-stdin"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b'{"endpoint": "http://127.0.0.1:')
        process.stdin.close()
        assert process.wait(60) == 0


@pytest.mark.slow
def test_go_is_formatted_vetted_and_tested(built: None) -> None:
    """gofmt, go vet and go test find nothing. The tests compare our JSON reader with Go's encoding/json."""
    said = subprocess.run(["gofmt", "-l", "."], cwd=SOURCES, check=True, capture_output=True, encoding="utf-8").stdout
    assert not said
    subprocess.run(["go", "vet", "./..."], cwd=SOURCES, check=True)
    subprocess.run(["go", "test", "./..."], cwd=SOURCES, check=True)
