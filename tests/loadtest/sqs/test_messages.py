"""The audit, the MD5s and a receiver get exactly the message that was sent."""

import hashlib
import json
import uuid
from collections import Counter
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError
from hypothesis import given
from hypothesis import strategies as st

from loadtest.stage.queues import client
from loadtest.stage.stand_in import StandIn
from local.sample_events import fresh_events

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

PRINTABLE = st.text(st.characters(min_codepoint=0x20, max_codepoint=0xD7FF), min_size=1)
ATTRIBUTES = st.dictionaries(
    st.from_regex(r"[A-Za-z0-9_-]{1,40}", fullmatch=True),
    st.one_of(
        PRINTABLE.map(lambda value: {"DataType": "String", "StringValue": value}),
        st.integers(-(10**30), 10**30).map(lambda value: {"DataType": "Number.int", "StringValue": str(value)}),
        st.binary(min_size=1).map(lambda value: {"DataType": "Binary", "BinaryValue": value}),
    ),
    max_size=10,
)


def md5(text: str | bytes) -> str:
    data = text.encode() if isinstance(text, str) else text
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def md5_of_attributes(attributes: dict[str, Any]) -> str:
    """Returns the MD5 that SQS's documentation defines. It is needed because botocore checks only the body's MD5."""
    digest = hashlib.md5(usedforsecurity=False)
    for name, value in sorted(attributes.items()):
        data = value.get("BinaryValue") or value["StringValue"].encode()
        for part in (name.encode(), value["DataType"].encode()):
            digest.update(len(part).to_bytes(4, "big") + part)
        digest.update((b"\x02" if "BinaryValue" in value else b"\x01") + len(data).to_bytes(4, "big") + data)
    return digest.hexdigest()


@given(body=PRINTABLE, attributes=ATTRIBUTES)
def test_the_md5s(sqs: "SQSClient", body: str, attributes: dict[str, Any]) -> None:
    """Body and attributes have the right MD5, and the message is received as it was sent."""
    queue_url = sqs.create_queue(QueueName="md5s")["QueueUrl"]
    answer = sqs.send_message(QueueUrl=queue_url, MessageBody=body, MessageAttributes=attributes)
    assert answer["MD5OfMessageBody"] == md5(body)
    assert answer.get("MD5OfMessageAttributes", "") == (md5_of_attributes(attributes) if attributes else "")
    (message,) = sqs.receive_message(QueueUrl=queue_url, MessageAttributeNames=["All"])["Messages"]
    assert (message["Body"], message.get("MessageAttributes", {})) == (body, attributes)
    assert message.get("MD5OfMessageAttributes") == answer.get("MD5OfMessageAttributes")
    sqs.delete_message(QueueUrl=queue_url, ReceiptHandle=message["ReceiptHandle"])


def test_the_audit(stand_in: StandIn, sqs: "SQSClient", queue_url: str, event: bytes) -> None:
    """The audit counts every sent message by its digests, alone or in a batch, even after it was received."""
    bodies = [body.decode() for body in fresh_events(event, 50)] + ["twice", "twice"]
    tag: Any = {"tag": {"DataType": "String", "StringValue": "x"}}
    for body in bodies[:12]:
        sqs.send_message(QueueUrl=queue_url, MessageBody=body, MessageAttributes=tag)
    for start in range(12, len(bodies), 10):
        entries: list[Any] = [{"Id": str(i), "MessageBody": body} for i, body in enumerate(bodies[start : start + 10])]
        sqs.send_message_batch(QueueUrl=queue_url, Entries=entries)
    sqs.receive_message(QueueUrl=queue_url, MaxNumberOfMessages=10)
    seen = stand_in.digests(queue_url)
    assert seen == stand_in.digests(queue_url.rpartition("/")[2])
    assert (seen.count, seen.bodies) == (52, Counter(md5(body) for body in bodies))
    assert seen.attributes == {md5_of_attributes(tag): 12, md5(""): 40}


def test_without_bodies(built: None, event: bytes) -> None:
    """The stand-in still counts the digests, but it does not support receiving."""
    stand_in = StandIn(bodies=False)
    stand_in.start()
    sqs = client(stand_in.endpoint)
    queue_url = sqs.create_queue(QueueName="q")["QueueUrl"]
    for _ in range(10):
        sqs.send_message_batch(QueueUrl=queue_url, Entries=[{"Id": str(i), "MessageBody": "x"} for i in range(10)])
    with pytest.raises(sqs.exceptions.UnsupportedOperation):
        sqs.receive_message(QueueUrl=queue_url)
    numbers = sqs.get_queue_attributes(QueueUrl=queue_url, AttributeNames=["ApproximateNumberOfMessages"])
    assert numbers["Attributes"] == {"ApproximateNumberOfMessages": "100"}
    assert stand_in.digests("q").bodies == {md5("x"): 100}
    sqs.close()
    stand_in.kill()


def test_receipt_handles(sqs: "SQSClient", queue_url: str, fifo_url: str) -> None:
    """A text that is not a receipt handle is refused, and on a FIFO queue also the handle of a visible message."""
    with pytest.raises(ClientError, match="ReceiptHandleIsInvalid"):
        sqs.delete_message(QueueUrl=queue_url, ReceiptHandle="handle")
    batch = sqs.delete_message_batch(QueueUrl=queue_url, Entries=[{"Id": "1", "ReceiptHandle": "handle"}])
    assert [entry["Code"] for entry in batch["Failed"]] == ["ReceiptHandleIsInvalid"]
    for url, more in ((queue_url, {}), (fifo_url, {"MessageGroupId": "g", "MessageDeduplicationId": "1"})):
        send: Any = sqs.send_message
        send(QueueUrl=url, MessageBody="x", **more)
        handle = sqs.receive_message(QueueUrl=url, VisibilityTimeout=0)["Messages"][0]["ReceiptHandle"]
        with pytest.raises(ClientError, match="expired") if more else nullcontext():
            sqs.delete_message(QueueUrl=url, ReceiptHandle=handle)


@pytest.mark.parametrize("seconds", [{"VisibilityTimeout": -1}, {"VisibilityTimeout": 43_201}, {"WaitTimeSeconds": 21}])
def test_seconds_of_a_receive(sqs: "SQSClient", queue_url: str, seconds: dict[str, Any]) -> None:
    """Times outside of SQS's limits are refused."""
    with pytest.raises(ClientError, match="InvalidParameterValue"):
        sqs.receive_message(QueueUrl=queue_url, **seconds)


def test_redrive(sqs: "SQSClient", queue_url: str) -> None:
    """A message moves to the dead-letter queue after as many receives as the policy allows. The policy is unchanged."""
    arn = sqs.get_queue_attributes(QueueUrl=queue_url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    policy = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": 2})
    source = sqs.create_queue(QueueName=f"source-{uuid.uuid4().hex}", Attributes={"RedrivePolicy": policy})["QueueUrl"]
    assert sqs.get_queue_attributes(QueueUrl=source, AttributeNames=["RedrivePolicy"])["Attributes"] == {
        "RedrivePolicy": policy
    }
    sqs.send_message(QueueUrl=source, MessageBody="poison", DelaySeconds=1)
    for _ in range(2):
        [sent] = sqs.receive_message(QueueUrl=source, VisibilityTimeout=0, WaitTimeSeconds=20, AttributeNames=["All"])[
            "Messages"
        ]
        assert sent["Body"] == "poison"
    assert "Messages" not in sqs.receive_message(QueueUrl=source)
    [dead] = sqs.receive_message(QueueUrl=queue_url, AttributeNames=["All"])["Messages"]  # without the delay
    assert dead["Body"] == "poison"
    assert dead["Attributes"]["SentTimestamp"] == sent["Attributes"]["SentTimestamp"]


def test_fifo(stand_in: StandIn, sqs: "SQSClient", fifo_url: str) -> None:
    """A repeated deduplication id gets the first acknowledgement again. A group waits for its message in flight."""

    def send(body: str, group: str, key: str) -> str:
        answer = sqs.send_message(QueueUrl=fifo_url, MessageBody=body, MessageGroupId=group, MessageDeduplicationId=key)
        return answer["MessageId"] + answer["SequenceNumber"]

    assert send("first", "a", "1") == send("first", "a", "1") != send("second", "a", "2")
    send("other", "b", "3")
    received = sqs.receive_message(QueueUrl=fifo_url, MaxNumberOfMessages=1)["Messages"]
    assert [message["Body"] for message in received] == ["first"]
    rest = sqs.receive_message(QueueUrl=fifo_url, MaxNumberOfMessages=10)["Messages"]
    assert [message["Body"] for message in rest] == ["other"]
    assert stand_in.digests(fifo_url).count == 3
    for missing in ({"MessageGroupId": "a"}, {"MessageDeduplicationId": "9"}):
        with pytest.raises(ClientError, match=r"MissingParameter|ContentBasedDeduplication"):
            sqs.send_message(QueueUrl=fifo_url, MessageBody="x", **missing)  # type: ignore[arg-type]  # what is tested
