"""A queue's address, and what SQS's codes mean."""

import pytest

from app.errors import InvalidEvent, QueueUnavailable
from app.sqs.queue import QueueAddress, batch_refused, outcomes, refusal
from app.telemetry.record import CallRecord

AWS = "https://sqs.eu-central-1.amazonaws.com"


@pytest.mark.parametrize(
    ("url", "address", "fifo"),
    [
        (f"{AWS}/123456789012/invoices", QueueAddress("invoices", "123456789012"), False),
        (f"{AWS}/123456789012/invoices.fifo", QueueAddress("invoices.fifo", "123456789012"), True),
        ("http://127.0.0.1:9324/queue/invoices", QueueAddress("invoices", None), False),
    ],
)
def test_the_address_of_a_url(url: str, address: QueueAddress, fifo: bool) -> None:
    """The address has the name, the account if the URL has one, and whether the queue is FIFO."""
    assert QueueAddress.at(url) == address
    assert address.fifo is fifo


def test_get_queue_url_takes_the_account() -> None:
    """Without the account, SQS looks in the caller's own."""
    assert QueueAddress("q", "123456789012").parameters() == {
        "QueueName": "q",
        "QueueOwnerAWSAccountId": "123456789012",
    }
    assert QueueAddress("q", None).parameters() == {"QueueName": "q"}


@pytest.mark.parametrize("prefix", ["", "AWS.SimpleQueueService."])
@pytest.mark.parametrize("code", ["BatchRequestTooLong", "BatchRequestTooLongException"])
def test_a_batch_that_is_too_long(prefix: str, code: str) -> None:
    """The error is recognised by the name of either protocol."""
    refused = batch_refused(prefix + code)
    assert refused is not None
    assert refused.too_long


@pytest.mark.parametrize("code", ["RequestThrottled", "AccessDenied", "InternalFailure", "ReadTimeoutError", ""])
def test_what_concerns_every_call_refuses_no_entry(code: str) -> None:
    """Sending entry by entry would make it worse; each webhook is answered 503."""
    assert batch_refused(code) is None
    assert isinstance(refusal(code, sent=True), QueueUnavailable)


def test_characters_are_the_senders_fault() -> None:
    """The answer is 422 and not 503, because SQS would reject the same body again."""
    assert isinstance(refusal("InvalidMessageContents", sent=True), InvalidEvent)


NO_IDS: list[object] = [None, True, 1, ["m"], {"a": 1}, "", " ", "\n"]


@pytest.mark.parametrize("message_id", NO_IDS, ids=repr)
def test_an_entry_without_a_message_id(message_id: object) -> None:
    """An id that is no text, or an empty one, acknowledges nothing."""
    record = CallRecord("SendMessageBatch", 2)
    entries = [{"Id": "a", "MessageId": message_id}, {"Id": "b", "MessageId": "m"}]
    found = outcomes({"Successful": entries}, ["a", "b"], record)
    assert [getattr(outcome, "cause", None) for outcome in found] == ["Unanswered", None]
    assert record.refused == ["Unanswered"]


def test_lists_that_are_null() -> None:
    """An answer with null instead of a list says the same as an answer with an empty one."""
    entry, record = {"Id": "a", "MessageId": "m"}, CallRecord("SendMessageBatch", 1)
    assert outcomes({"Successful": [entry], "Failed": None}, ["a"], record) == [None]
    [failed] = outcomes({"Successful": None, "Failed": [{"Id": "a", "Code": "InternalError"}]}, ["a"], record)
    assert getattr(failed, "cause", None) == "InternalError"


@pytest.mark.parametrize("order", [["Successful", "Failed"], ["Failed", "Successful"]])
def test_an_entry_in_both_lists_of_an_answer(order: list[str]) -> None:
    """It counts as failed, in whatever order the lists come; the others keep their own outcome."""
    lists = {
        "Successful": [{"Id": name, "MessageId": "m"} for name in "ab"],
        "Failed": [{"Id": name, "Code": "InternalError"} for name in "bc"],
    }
    record = CallRecord("SendMessageBatch", 3)
    found = outcomes({name: lists[name] for name in order}, ["a", "b", "c"], record)
    assert [getattr(outcome, "cause", None) for outcome in found] == [None, "InternalError", "InternalError"]
    assert record.refused == ["InternalError", "InternalError"]
