"""The worker's calls: what the answer to a batch says of each entry."""

import json

import aioboto3
import pytest

from app.sqs.queue import QueueAddress
from app.telemetry.record import unobserved
from app.worker.queue import ConsumedQueue, Refusal
from tests.harness import queues
from tests.harness.sqs_stand_in import SqsStandIn

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("action", ["DeleteMessageBatch", "ChangeMessageVisibilityBatch"])
async def test_an_entry_in_both_lists_of_an_answer(action: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not done, so the worker repeats it; an entry that the answer does not mention is repeated as well."""
    successful = [{"Id": "0"}, {"Id": "1"}]
    failed = [{"Id": "1", "Code": "InternalError", "SenderFault": False}]
    with SqsStandIn() as sqs:
        sqs.raw = {action: (200, json.dumps({"Successful": successful, "Failed": failed}).encode())}
        for name, value in queues.environment(sqs.endpoint).items():
            monkeypatch.setenv(name, value)
        async with aioboto3.Session().client("sqs") as client:
            queue = ConsumedQueue(client, QueueAddress.at(sqs.queue_url), 60, unobserved)
            call = queue.delete(["a", "b", "c"]) if action.startswith("Delete") else queue.change([("a", 1)] * 3)
            assert await call == [None, Refusal("InternalError", final=False), Refusal("Unanswered", final=False)]
