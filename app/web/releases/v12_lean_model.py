"""1.5.0: msgspec reads the event.

Problem: pydantic builds each field of the body before it validates the few fields that the service needs.
Change: msgspec decodes and validates these fields in one pass, and skips the others. If msgspec rejects a body,
pydantic reads the body again and decides.
Cost: two models define each constraint, and tests compare the models. pydantic reads a rejected body a second time.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from app.lean_events import parse_event
from app.sqs.group_commit import GroupCommit, open_group_commit
from app.sqs.lean import open_lean
from app.sqs.message import to_message
from app.web.service import Service
from app.web.webhook import Webhook

VERSION = "1.5.0"
CLIENT = "lean"
SERVER = "ours"


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[dict[str, GroupCommit]]:
    service = Service.of(app)
    async with (
        open_lean(service.queue, service.limits()) as queue,
        open_group_commit(queue, service.limits(), service.observe_calls) as group_commit,
    ):
        await queue.warm()
        yield {"queue": group_commit}


def receive(webhook: Webhook) -> None:
    event = webhook.read_event(parse_event)
    if event is None:
        webhook.ignored()
        return
    queue: GroupCommit = webhook.state["queue"]
    queue.submit(to_message(event, webhook.body, fifo=queue.fifo), webhook.settled)
