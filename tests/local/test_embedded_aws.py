"""Tests the embedded AWS's environment and operations. (See also test_child.py.)"""

import json

import boto3
import psutil
import pytest

from loadtest.stage.queues import client
from local import embedded_aws
from local.peek import peek
from tests.harness import queues


def test_it_shields_the_real_account(monkeypatch: pytest.MonkeyPatch) -> None:
    """The child sees nothing of the user's AWS_ variables."""
    monkeypatch.setenv("AWS_PROFILE", "production")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "real")
    with embedded_aws.start() as aws:
        seen = psutil.Process(aws.pid).environ()
    assert [name for name in seen if name.startswith("AWS_")] == []


def test_dynamodb_is_there_too() -> None:
    """The embedded AWS answers a call to DynamoDB; the tests of the billing work use its other operations."""
    with embedded_aws.start() as aws:
        session = boto3.Session("x", "x", region_name=embedded_aws.REGION)
        dynamodb = session.client("dynamodb", endpoint_url=aws.endpoint)
        assert dynamodb.list_tables()["TableNames"] == []
        dynamodb.close()


def test_peeking_changes_nothing() -> None:
    """`peek` does not change a message's place or receive count."""
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
