"""Warns if the queue's redrive policy would make SQS dead-letter messages that the worker can still process.

Each receive counts towards maxReceiveCount, even if the worker released the message or was killed. The worker itself
dead-letters messages that can never succeed, with a reason. So the policy is needed only for failures that the worker
cannot detect.
"""

import json

from loguru import logger

from app.sqs.failures import code_of
from app.worker.consumed_queue import ConsumedQueue

WANTED_RECEIVES = 1000  # the highest maxReceiveCount that SQS accepts


async def check(queue: ConsumedQueue) -> bool:
    """Logs a warning if maxReceiveCount is below WANTED_RECEIVES. Returns False if SQS does not answer."""
    try:
        policy = (await queue.attributes("RedrivePolicy")).get("RedrivePolicy")
    except Exception as error:
        logger.debug("SQS did not return the redrive policy: {}", code_of(error))
        return False
    if policy is not None and (count := _receives(policy)) is not None and count < WANTED_RECEIVES:
        logger.warning(
            "{}: the redrive policy's maxReceiveCount is {}, but should be {}: otherwise, SQS dead-letters messages"
            " that could still succeed",
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
