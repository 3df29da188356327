"""Stands in for group commit, without SQS: a test gives each message its outcome."""

import asyncio
from functools import partial

from app.errors import WebhookRefused
from app.sqs.message import Message
from app.sqs.pending import OnSettled, resolve


class HeldQueue:
    """`waiting`: the messages without an outcome and their callbacks, oldest first."""

    fifo = False

    def __init__(self) -> None:
        self.waiting: list[tuple[Message, OnSettled]] = []

    def submit(self, message: Message, on_settled: OnSettled) -> None:
        self.waiting.append((message, on_settled))

    async def send(self, message: Message) -> None:
        sent = asyncio.get_running_loop().create_future()
        self.submit(message, partial(resolve, sent))
        await sent

    def settle(self, refused: WebhookRefused | None) -> None:
        """Gives the oldest message its outcome, if a message waits."""
        if self.waiting:
            _, on_settled = self.waiting.pop(0)
            on_settled(refused)
