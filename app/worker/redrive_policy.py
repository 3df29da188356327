"""Warns if the queue's own redrive policy would move messages that the worker would still process.

Each receive counts towards maxReceiveCount, even if the message was released, or its worker killed. The worker itself
dead-letters messages that can never succeed, with a reason. The policy is left for what the worker cannot see.
"""

import json

from loguru import logger

from app.sqs.failures import code_of
from app.worker.consumed_queue import ConsumedQueue

WANTED_RECEIVES = 1000  # SQS's maximum


async def check(queue: ConsumedQueue) -> bool:
    """Warns of a maxReceiveCount below WANTED_RECEIVES. Returns whether SQS has answered."""
    try:
        policy = (await queue.attributes("RedrivePolicy")).get("RedrivePolicy")
    except Exception as error:
        logger.debug("The redrive policy is not known: {}", code_of(error))
        return False
    if policy is not None and (count := _receives(policy)) is not None and count < WANTED_RECEIVES:
        logger.warning(
            "{}: its redrive policy has maxReceiveCount {}, wanted is {}: SQS would move messages that are only late"
            " to the dead-letter queue",
            queue.name,
            count,
            WANTED_RECEIVES,
        )
    return True


def _receives(policy: str) -> int | None:
    try:
        return int(json.loads(policy)["maxReceiveCount"])
    except (ValueError, KeyError, TypeError):
        return None
