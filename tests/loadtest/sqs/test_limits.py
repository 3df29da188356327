"""SQS's limits, as its documentation states them and boto3 reports them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError
from hypothesis import given
from hypothesis import strategies as st

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

MIB = 1024 * 1024
OLD = "AWS.SimpleQueueService."
INVALID, CONTENTS, MISSING = "InvalidParameterValue", "InvalidMessageContents", "MissingParameter"


def refusal(call: Any, **parameters: Any) -> tuple[str, int]:
    """Returns the code and status of the call's error, or "" and 200 without an error."""
    try:
        call(**parameters)
    except ClientError as error:
        return error.response["Error"]["Code"], error.response["ResponseMetadata"]["HTTPStatusCode"]
    return "", 200


def text(value: str, data_type: str = "String") -> dict[str, str]:
    return {"DataType": data_type, "StringValue": value}


def attributes(count: int) -> dict[str, dict[str, str]]:
    return {f"name{number}": text("value") for number in range(count)}


MESSAGES: list[tuple[Mapping[str, Any], str]] = [
    ({"MessageBody": "x" * MIB}, ""),
    ({"MessageBody": "x" * (MIB + 1)}, INVALID),
    ({"MessageBody": "ä" * (MIB // 2 + 1)}, INVALID),
    ({"MessageBody": "x" * (MIB - 11), "MessageAttributes": {"name": text("1", "String")}}, ""),
    ({"MessageBody": "x" * (MIB - 10), "MessageAttributes": {"name": text("1", "String")}}, INVALID),
    ({"MessageBody": ""}, INVALID),
    ({"MessageBody": "a\x00"}, CONTENTS),
    ({"MessageBody": "a\ufffe"}, CONTENTS),
    ({"MessageBody": "\t\n\r \U0001f600\ufffd"}, ""),
    ({"MessageAttributes": attributes(10)}, ""),
    ({"MessageAttributes": attributes(11)}, INVALID),
    ({"MessageAttributes": {"name": text("")}}, INVALID),
    ({"MessageAttributes": {"name": text("a\x01")}}, CONTENTS),
    ({"MessageAttributes": {"name": {"DataType": "Binary", "BinaryValue": b"\x00\xff"}}}, ""),
    ({"MessageAttributes": {"name": {"DataType": "Binary", "BinaryValue": b""}}}, INVALID),
    ({"MessageAttributes": {"name": text("12.5", "Number.money")}}, ""),
    ({"MessageAttributes": {"name": text("many", "Number")}}, INVALID),
    ({"MessageAttributes": {"name": text("x", "Text")}}, INVALID),
    ({"MessageAttributes": {"AWS.name": text("x")}}, INVALID),
    ({"MessageAttributes": {"a..b": text("x")}}, INVALID),
    ({"MessageAttributes": {"n" * 257: text("x")}}, INVALID),
    ({"DelaySeconds": 901}, INVALID),
    ({"MessageGroupId": "a fair queue's"}, INVALID),
    ({"MessageGroupId": "a-fair-queue's"}, ""),
    ({"MessageDeduplicationId": "x"}, INVALID),
]


@pytest.mark.parametrize(("message", "code"), MESSAGES, ids=range(len(MESSAGES)))
def test_a_message(sqs: "SQSClient", queue_url: str, message: Mapping[str, Any], code: str) -> None:
    """A message has the same outcome alone and in a batch. The other entry of the batch is always stored."""
    message = {"MessageBody": "x", **message}
    assert refusal(sqs.send_message, QueueUrl=queue_url, **message) == (code, 400 if code else 200)
    if len(message["MessageBody"].encode()) > MIB - 100:
        return
    entries: list[Any] = [{"Id": "1", **message}, {"Id": "2", "MessageBody": "beside"}]
    answer = sqs.send_message_batch(QueueUrl=queue_url, Entries=entries)
    assert [entry["Code"] for entry in answer.get("Failed", []) if entry["SenderFault"]] == [code] * bool(code)
    assert answer["Successful"][-1]["Id"] == "2"


BATCHES: list[tuple[list[dict[str, str]], str]] = [
    ([], "EmptyBatchRequest"),
    ([{"Id": str(i), "MessageBody": "x"} for i in range(10)], ""),
    ([{"Id": str(i), "MessageBody": "x"} for i in range(11)], "TooManyEntriesInBatchRequest"),
    ([{"Id": "1", "MessageBody": "x"}, {"Id": "1", "MessageBody": "y"}], "BatchEntryIdsNotDistinct"),
    ([{"Id": "_-" * 40, "MessageBody": "x"}], ""),
    ([{"Id": "x" * 81, "MessageBody": "x"}], "InvalidBatchEntryId"),
    ([{"Id": "a.b", "MessageBody": "x"}], "InvalidBatchEntryId"),
    ([{"Id": str(i), "MessageBody": "x" * (MIB // 4)} for i in range(4)], ""),
    ([{"Id": str(i), "MessageBody": "x" * (MIB // 4 + 1)} for i in range(4)], "BatchRequestTooLong"),
]


@pytest.mark.parametrize(("entries", "code"), BATCHES, ids=range(len(BATCHES)))
def test_a_batch(sqs: "SQSClient", queue_url: str, entries: list[dict[str, str]], code: str) -> None:
    """A fault of the whole batch rejects the whole batch."""
    refused = refusal(sqs.send_message_batch, QueueUrl=queue_url, Entries=entries)
    assert refused == ((OLD + code, 400) if code else ("", 200))


@given(body=st.text(min_size=1))
def test_any_text(sqs: "SQSClient", keeping: object, body: str) -> None:
    """A queue accepts the characters that XML 1.0 allows: https://www.w3.org/TR/xml/#charsets"""
    queue_url = sqs.create_queue(QueueName="any-text")["QueueUrl"]
    allowed = all(
        char in "\t\n\r" or " " <= char <= "\ud7ff" or "\ue000" <= char <= "\ufffd" or char > "\uffff" for char in body
    )
    assert refusal(sqs.send_message, QueueUrl=queue_url, MessageBody=body)[0] == ("" if allowed else CONTENTS)


def test_a_queue_that_does_not_exist(sqs: "SQSClient", queue_url: str) -> None:
    """Every call fails with the old protocol's name of the error, and with boto3's exception."""
    gone = queue_url + "x"
    with pytest.raises(sqs.exceptions.QueueDoesNotExist) as raised:
        sqs.send_message(QueueUrl=gone, MessageBody="x")
    assert raised.value.response["Error"]["Code"] == OLD + "NonExistentQueue"
    assert refusal(sqs.get_queue_url, QueueName="nobody-made-it")[0] == OLD + "NonExistentQueue"
    sqs.delete_queue(QueueUrl=queue_url)
    assert refusal(sqs.receive_message, QueueUrl=queue_url)[0] == OLD + "NonExistentQueue"


def test_other_calls(sqs: "SQSClient", queue_url: str) -> None:
    """For a call that the stand-in does not support, the error is UnsupportedOperation."""
    assert refusal(sqs.purge_queue, QueueUrl=queue_url) == (OLD + "UnsupportedOperation", 400)
    assert refusal(sqs.list_queues) == (OLD + "UnsupportedOperation", 400)
    delayed = {"QueueName": "delayed", "Attributes": {"DelaySeconds": "10"}}
    assert refusal(sqs.create_queue, **delayed) == (OLD + "UnsupportedOperation", 400)
