"""A message in flight can be hidden for longer, or be made visible again."""

from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient


def _received(sqs: "SQSClient", queue_url: str) -> str:
    """Receives the visible message, and returns its receipt handle."""
    [message] = sqs.receive_message(QueueUrl=queue_url, VisibilityTimeout=3600)["Messages"]
    return message["ReceiptHandle"]


def test_handed_back_it_is_received_at_once(sqs: "SQSClient", queue_url: str) -> None:
    """The message is received again at once, and its old receipt handle is no longer valid."""
    sqs.send_message(QueueUrl=queue_url, MessageBody="b")
    first = _received(sqs, queue_url)
    sqs.change_message_visibility(QueueUrl=queue_url, ReceiptHandle=first, VisibilityTimeout=0)
    _received(sqs, queue_url)
    with pytest.raises(ClientError, match="ReceiptHandleIsInvalid"):
        sqs.change_message_visibility(QueueUrl=queue_url, ReceiptHandle=first, VisibilityTimeout=60)


def test_a_batch_says_of_each_entry_what_became_of_it(sqs: "SQSClient", queue_url: str) -> None:
    """An entry fails if its message is visible, its time exceeds twelve hours, or its handle is unknown."""
    handles = {}
    for name in ("held", "visible", "long"):
        sqs.send_message(QueueUrl=queue_url, MessageBody=name)
        handles[name] = _received(sqs, queue_url)
    sqs.change_message_visibility(QueueUrl=queue_url, ReceiptHandle=handles["visible"], VisibilityTimeout=0)
    seconds = {"held": 60, "visible": 60, "long": 43_201, "unknown": 60}
    entries: Any = [
        {"Id": name, "ReceiptHandle": handles.get(name, "unknown"), "VisibilityTimeout": number}
        for name, number in seconds.items()
    ]
    answer = sqs.change_message_visibility_batch(QueueUrl=queue_url, Entries=entries)
    assert [entry["Id"] for entry in answer["Successful"]] == ["held"]
    assert {entry["Id"]: (entry["Code"], entry["SenderFault"]) for entry in answer["Failed"]} == {
        "visible": ("MessageNotInflight", True),
        "long": ("InvalidParameterValue", True),
        "unknown": ("ReceiptHandleIsInvalid", True),
    }
