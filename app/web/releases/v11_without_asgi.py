"""1.4.0: a webhook without ASGI.

Problem: the largest part of a webhook's CPU time goes into ASGI: its scope, task, coroutines and messages.
Change: this project's server calls `receive` when the body is complete. Group commit's callback writes the response.
Cost: a second code path for webhooks must keep the HTTP contract, without FastAPI's dependencies and middleware.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from app.events import parse_event
from app.sqs.group_commit import GroupCommit, open_group_commit
from app.sqs.lean import open_lean
from app.sqs.message import to_message
from app.web.service import Service
from app.web.webhook import Webhook

VERSION = "1.4.0"
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
