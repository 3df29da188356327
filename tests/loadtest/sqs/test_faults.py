"""The stand-in injects each fault, and the same faults for the same seed."""

from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError

from loadtest.stage.stand_in import StandIn

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient


def batch(count: int = 10) -> list[Any]:
    return [{"Id": str(number), "MessageBody": str(number)} for number in range(count)]


def stored(stand_in: StandIn, queue_url: str) -> int:
    return stand_in.digests(queue_url).count


@pytest.mark.parametrize(("fault", "expected"), [("lose", 0), ("double", 20)])
def test_lost_and_doubled(stand_in: StandIn, sqs: "SQSClient", queue_url: str, fault: str, expected: int) -> None:
    """The stand-in acknowledges each message as usual, but does not store it, or stores it twice."""
    stand_in.faults(**{fault: 1})
    assert len(sqs.send_message_batch(QueueUrl=queue_url, Entries=batch())["Successful"]) == 10
    assert stored(stand_in, queue_url) == expected


def test_the_same_seed(stand_in: StandIn, sqs: "SQSClient", queue_url: str) -> None:
    """Some of a hundred messages are lost. With the same seed, the same messages are lost."""
    lost = []
    for seed in (1, 1, 2):
        stand_in.faults(lose=0.5, seed=seed)
        before = stand_in.digests(queue_url).bodies
        for _ in range(10):
            sqs.send_message_batch(QueueUrl=queue_url, Entries=batch())
        after = stand_in.digests(queue_url).bodies
        lost.append({body: number - before.get(body, 0) for body, number in after.items()})
    assert lost[0] == lost[1] != lost[2]
    assert 20 < sum(lost[0].values()) < 80


@pytest.mark.parametrize(
    ("fault", "code", "status"), [("throttle", "RequestThrottled", 400), ("error_500", "InternalFailure", 500)]
)
def test_refused(stand_in: StandIn, sqs: "SQSClient", queue_url: str, fault: str, code: str, status: int) -> None:
    """The stand-in rejects the whole call, and stores nothing. Calls that send nothing still succeed."""
    stand_in.faults(**{fault: 1})
    with pytest.raises(ClientError) as raised:
        sqs.send_message_batch(QueueUrl=queue_url, Entries=batch())
    assert raised.value.response["Error"]["Code"] == code
    assert raised.value.response["ResponseMetadata"]["HTTPStatusCode"] == status
    assert sqs.get_queue_url(QueueName=queue_url.rpartition("/")[2])["QueueUrl"] == queue_url
    assert stored(stand_in, queue_url) == 0


def test_failed_entries(stand_in: StandIn, sqs: "SQSClient", queue_url: str) -> None:
    """The response is 200 and names failed entries. Their fault is not the sender's, and they are not stored."""
    stand_in.faults(fail_entry=0.5, seed=3)
    answer = sqs.send_message_batch(QueueUrl=queue_url, Entries=batch())
    assert 0 < len(answer["Failed"]) < 10
    assert not any(entry["SenderFault"] for entry in answer["Failed"])
    assert stored(stand_in, queue_url) == len(answer["Successful"]) == 10 - len(answer["Failed"])


def test_a_lost_answer(stand_in: StandIn, sqs: "SQSClient", queue_url: str) -> None:
    """The connection is reset before the response, but the message is stored."""
    stand_in.faults(reset=1)
    with pytest.raises(ConnectionClosedError):
        sqs.send_message(QueueUrl=queue_url, MessageBody="x")
    assert stored(stand_in, queue_url) == 1


def test_an_unknown_fault(stand_in: StandIn) -> None:
    """The stand-in rejects an unknown fault, so that a misspelt fault fails its test."""
    with pytest.raises(HTTPError, match="400") as refused:
        stand_in.faults(loose=1)
    refused.value.close()
