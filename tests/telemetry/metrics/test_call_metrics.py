"""The metrics of calls to SQS, DynamoDB and Chargebee."""

from typing import Any

import pytest

from app.telemetry.metrics.call_metrics import REJECTED, CallMetrics
from app.telemetry.metrics.instruments import MOST_VALUES, OTHER
from app.telemetry.record import CANCELLED, CHARGEBEE, DYNAMODB, SQS, CallRecord


def points(metrics: CallMetrics) -> dict[str, dict[Any, Any]]:
    return {instrument.description.name: dict(instrument.points()) for instrument in metrics.instruments}


def test_a_batch() -> None:
    """A batch has a latency by operation, a size, bytes, and the wait of each message."""
    metrics = CallMetrics()
    metrics.observe(CallRecord("SendMessageBatch", 3, 5000, [0.0, 0.01, 0.02], 1.0, 1.2, retries=2, code=None))
    found = points(metrics)
    duration = found["messaging.client.operation.duration"]["aws_sqs", "SendMessageBatch"]
    assert duration.total == pytest.approx(0.2)
    assert found["invoice_webhook.sqs.batch.size"][()].total == 3
    assert found["invoice_webhook.sqs.batch.bytes"][()].total == 5000
    assert sum(found["invoice_webhook.sqs.wait"][()].counts) == 3
    assert found["invoice_webhook.sqs.retries"] == {(): 2}
    assert found["invoice_webhook.sqs.failures"] == {}


def test_a_call_without_messages() -> None:
    """GetQueueUrl has a latency, but no batch size. A worker's delete has no bytes."""
    metrics = CallMetrics()
    metrics.observe(CallRecord("GetQueueUrl", began=1.0, ended=1.1, code=None))
    metrics.observe(CallRecord("DeleteMessageBatch", 3, began=1.0, ended=1.1, code=None))
    found = points(metrics)
    assert ("aws_sqs", "GetQueueUrl") in found["messaging.client.operation.duration"]
    assert sum(found["invoice_webhook.sqs.batch.size"][()].counts) == 1
    assert sum(found["invoice_webhook.sqs.batch.bytes"][()].counts) == 0


def test_failures() -> None:
    """Failures are counted by code: that of the call, or of each rejected entry in a call that succeeded."""
    metrics = CallMetrics()
    metrics.observe(CallRecord("SendMessageBatch", 2, code="AWS.SimpleQueueService.NonExistentQueue"))
    metrics.observe(CallRecord("SendMessageBatch", 2, code=None, refused=["InternalError", "InternalError"]))
    metrics.observe(CallRecord("SendMessageBatch", 2))
    counted = points(metrics)["invoice_webhook.sqs.failures"]
    assert counted == {("NonExistentQueue",): 1, ("InternalError",): 2, (CANCELLED,): 1}


def test_each_service_has_metrics_of_its_own() -> None:
    """A call is counted for its service only, and a process has no metrics of services that it does not call."""
    metrics = CallMetrics((SQS, DYNAMODB, CHARGEBEE))
    metrics.observe(CallRecord("UpdateItem", began=1.0, ended=1.5, code="TransactionConflict", system=DYNAMODB))
    found = points(metrics)
    assert found["db.client.operation.duration"]["aws.dynamodb", "UpdateItem"].total == 0.5
    assert found["invoice_webhook.dynamodb.failures"] == {("TransactionConflict",): 1}
    assert found["messaging.client.operation.duration"] == found["invoice_webhook.chargebee.duration"] == {}
    assert found["invoice_webhook.sqs.failures"] == found["invoice_webhook.chargebee.failures"] == {}
    assert not any("dynamodb" in name or "chargebee" in name for name in points(CallMetrics()))


def test_chargebees_limit_and_rejections() -> None:
    """Chargebee's calls have waits, tries that were answered with 429, and rejections, which are no failures of it."""
    metrics = CallMetrics((CHARGEBEE,))
    code = "chargebee_http_503"
    metrics.observe(CallRecord("close", waited=[0.5, 2.0], retries=1, code=code, throttled=1, system=CHARGEBEE))
    metrics.observe(CallRecord("close", waited=[0.1], code=None, refused=["any_code"], system=CHARGEBEE))
    found = points(metrics)
    assert found["invoice_webhook.chargebee.failures"] == {(code,): 1, (REJECTED,): 1}
    assert found["invoice_webhook.chargebee.throttled"] == found["invoice_webhook.chargebee.retries"] == {(): 1}
    assert found["invoice_webhook.chargebee.wait"][()].total == 2.6
    assert sum(found["invoice_webhook.chargebee.duration"]["chargebee", "close"].counts) == 2


def test_codes_are_bounded() -> None:
    """A proxy may return any codes: after the first ones, all further ones share one series."""
    metrics = CallMetrics()
    for number in range(10_000):
        metrics.observe(CallRecord("SendMessage", 1, code=f"Odd{number}"))
    found = points(metrics)["invoice_webhook.sqs.failures"]
    assert len(found) == MOST_VALUES + 1
    assert found[OTHER,] == 10_000 - MOST_VALUES
