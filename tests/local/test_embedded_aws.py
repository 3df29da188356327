"""The embedded AWS: where it listens, when it ends, what it supports."""

import json
import os
import signal
import subprocess
import sys
import textwrap

import boto3
import psutil
import pytest

from app.errors import ConfigurationError
from app.local import embedded_aws
from app.local.peek import peek
from loadtest.stage.queues import client
from tests.harness import queues

PARENT = textwrap.dedent("""
    import os, sys
    from app.local import embedded_aws
    with embedded_aws.start() as aws:
        print(aws.pid, flush=True)
        sys.stdin.read()
""")


def test_it_listens_on_loopback_alone() -> None:
    """One socket, on 127.0.0.1, whatever the emulator would do by itself."""
    with embedded_aws.start() as aws:
        process = psutil.Process(aws.pid)
        sockets = [socket for each in (process, *process.children(True)) for socket in each.net_connections("all")]
        listening = [socket.laddr for socket in sockets if socket.status == psutil.CONN_LISTEN]
        bound = [socket.laddr for socket in sockets if socket.laddr and socket.status == psutil.CONN_NONE]
    assert [address.ip for address in listening] == ["127.0.0.1"]
    assert [address for address in bound if hasattr(address, "ip")] == []


@pytest.mark.parametrize("sig", [signal.SIGKILL, signal.SIGTERM])
def test_it_ends_when_its_parent_is_killed(sig: signal.Signals) -> None:
    """By the end of a pipe, which needs no signal of the kernel."""
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        parent.send_signal(sig)
        parent.wait(60)
        psutil.wait_procs([child], timeout=60)
        assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE


def test_it_shields_the_real_account(monkeypatch: pytest.MonkeyPatch) -> None:
    """The child sees nothing of the user's AWS_ variables."""
    monkeypatch.setenv("AWS_PROFILE", "production")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "real")
    with embedded_aws.start() as aws:
        seen = psutil.Process(aws.pid).environ()
    assert [name for name in seen if name.startswith("AWS_")] == []


def test_dynamodb_is_there_too() -> None:
    """For the worker to come."""
    with embedded_aws.start() as aws:
        session = boto3.Session("x", "x", region_name=embedded_aws.REGION)
        dynamodb = session.client("dynamodb", endpoint_url=aws.endpoint)
        assert dynamodb.list_tables()["TableNames"] == []
        dynamodb.close()


def test_peeking_changes_nothing() -> None:
    """Any number of times: the message keeps its place and its receive count."""
    with embedded_aws.start() as aws:
        sqs = client(aws.endpoint)
        dead = sqs.create_queue(QueueName="dead")["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        redrive = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": 1})
        queue = sqs.create_queue(QueueName="q", Attributes={"RedrivePolicy": redrive})["QueueUrl"]
        sqs.send_message(QueueUrl=queue, MessageBody="exactly this: ü")
        for _ in range(10):
            assert [message.body for message in peek(aws.endpoint, queue)] == ["exactly this: ü"]
        assert len(queues.drain(sqs, queue)) == 1
        assert peek(aws.endpoint, dead) == []
        sqs.close()


def test_a_port_that_is_taken() -> None:
    """A clear error, and no child left behind."""
    with embedded_aws.start() as first:
        port = int(first.endpoint.rpartition(":")[2])
        before = {child.pid for child in psutil.Process(os.getpid()).children()}
        with pytest.raises(ConfigurationError, match=f"did not start on port {port}"), embedded_aws.start(port):
            pass
        assert {child.pid for child in psutil.Process(os.getpid()).children()} == before
