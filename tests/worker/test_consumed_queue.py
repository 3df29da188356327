"""The worker reads from the answer to a batch whether each entry succeeded."""

import json

import aioboto3
import pytest

from app.sqs.queue import QueueAddress
from app.telemetry.record import unobserved
from app.worker.consumed_queue import ConsumedQueue, FailedEntry
from tests.harness import queues
from tests.harness.sqs_stand_in import SqsStandIn

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("action", ["DeleteMessageBatch", "ChangeMessageVisibilityBatch"])
async def test_an_entry_in_both_lists_of_an_answer(action: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker repeats such an entry, and an entry that the answer does not mention."""
    successful = [{"Id": "0"}, {"Id": "1"}]
    failed = [{"Id": "1", "Code": "InternalError", "SenderFault": False}]
    with SqsStandIn() as sqs:
        sqs.raw = {action: (200, json.dumps({"Successful": successful, "Failed": failed}).encode())}
        for name, value in queues.environment(sqs.endpoint).items():
            monkeypatch.setenv(name, value)
        async with aioboto3.Session().client("sqs") as client:
            queue = ConsumedQueue(client, QueueAddress.at(sqs.queue_url), 60, unobserved)
            deletes = action.startswith("Delete")
            found = await (queue.delete(["a"] * 3) if deletes else queue.change_visibility([("a", 1)] * 3))
        assert found == [None, *(FailedEntry(code, final=False) for code in ("InternalError", "Unanswered"))]
