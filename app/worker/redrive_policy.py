"""Whether the queue itself moves honest messages away: its redrive policy.

Each receive counts towards maxReceiveCount, also of a message that was handed back, or whose worker was killed. What
can never succeed is moved by the worker, with a reason, so that the policy is left for what the worker cannot see.
"""

import json

from loguru import logger

from app.sqs.failures import code_of
from app.worker.queue import ConsumedQueue

WANTED_RECEIVES = 1000  # SQS's highest


async def check(queue: ConsumedQueue) -> bool:
    """Warns of a lower maxReceiveCount. Whether SQS has answered."""
    try:
        policy = (await queue.attributes("RedrivePolicy")).get("RedrivePolicy")
    except Exception as error:
        logger.debug("The redrive policy is not known: {}", code_of(error))
        return False
    if policy is not None and (count := _receives(policy)) is not None and count < WANTED_RECEIVES:
        logger.warning(
            "{}: its redrive policy has maxReceiveCount {}, wanted is {}: messages that are only late would be moved"
            " to its dead-letter queue",
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
