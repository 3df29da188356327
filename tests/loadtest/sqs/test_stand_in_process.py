"""The process of the stand-in: TLS, its port, its parent, and the SDK for Go."""

import subprocess
from pathlib import Path

import boto3
import httpx
import pytest

from loadtest.stage import peers, subject
from loadtest.stage.budget import open_budget
from loadtest.stage.queues import client
from loadtest.stage.stand_in import BINARY, SOURCES, StandIn
from local.embedded_aws import REGION
from local.tls import certificates
from tests.harness import queues
from tests.harness.service import PASSWORD, USER, environment


def test_tls(built: None) -> None:
    """boto3 sends over TLS if it trusts the CA, and the audit uses TLS, too."""
    with certificates() as tls:
        stand_in = StandIn(bodies=False, tls=tls)
        stand_in.start()
        assert stand_in.endpoint.startswith("https://127.0.0.1:")
        sqs = boto3.client(
            "sqs",
            endpoint_url=stand_in.endpoint,
            region_name=REGION,
            aws_access_key_id="local",
            aws_secret_access_key="local",
            verify=str(tls.ca),
        )
        queue_url = sqs.create_queue(QueueName="q")["QueueUrl"]
        assert queue_url == f"{stand_in.endpoint}/000000000000/q"
        sqs.send_message(QueueUrl=queue_url, MessageBody="x")
        assert stand_in.digests("q").count == 1
        sqs.close()
        stand_in.kill()


def test_it_comes_back_on_its_port(built: None) -> None:
    """The restarted stand-in is empty, because it stores nothing on disk."""
    stand_in = StandIn()
    stand_in.start()
    endpoint, sqs = stand_in.endpoint, client(stand_in.endpoint)
    sqs.create_queue(QueueName="q")
    stand_in.kill()
    stand_in.start()
    assert stand_in.endpoint == endpoint
    with pytest.raises(sqs.exceptions.QueueDoesNotExist):
        sqs.get_queue_url(QueueName="q")
    sqs.close()
    stand_in.kill()


def test_it_ends_with_its_parent(built: None) -> None:
    """The process ends when its standard input is closed, as it is when the parent ends."""
    with subprocess.Popen([BINARY, "-exit-with-stdin"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b'{"endpoint": "http://127.0.0.1:')
        process.stdin.close()
        assert process.wait(60) == 0


def test_a_port_in_use(keeping: StandIn) -> None:
    """The process ends with an error that says so."""
    command = [str(BINARY), "-port", keeping.endpoint.rpartition(":")[2]]
    ended = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert ended.returncode == 1
    assert "address already in use" in ended.stderr


@pytest.mark.slow
def test_the_sdk_for_go(stand_in: StandIn, queue_url: str, event: bytes, tmp_path: Path) -> None:
    """The stand-in accepts the signatures of the SDK, and the SDK accepts the MD5s of the stand-in."""
    [go] = peers.peers(lambda name: name == "go")
    with (
        open_budget("none") as budget,
        subject.start(go, budget, environment(stand_in.endpoint, queue_url), tmp_path / "log") as running,
    ):
        answer = httpx.post(f"{running.url}/webhooks/chargebee", content=event, auth=(USER, PASSWORD), timeout=60)
    assert answer.status_code == 200
    sqs = client(stand_in.endpoint)
    ((body, attributes),) = queues.drain(sqs, queue_url)
    assert body == event
    assert len(attributes) == 4
    sqs.close()


@pytest.mark.slow
def test_go_is_formatted_vetted_and_tested(built: None) -> None:
    """gofmt, vet and test find nothing. The tests compare the reader of JSON with Go's own."""
    said = subprocess.run(["gofmt", "-l", "."], cwd=SOURCES, check=True, capture_output=True, encoding="utf-8").stdout
    assert not said
    subprocess.run(["go", "vet", "./..."], cwd=SOURCES, check=True)
    subprocess.run(["go", "test", "./..."], cwd=SOURCES, check=True)
