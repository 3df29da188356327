"""The blocking client: boto3. `send` blocks the calling thread until SQS answers."""

import threading
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.endpoint import MAX_POOL_CONNECTIONS

from app.settings import Settings
from app.sqs.failures import code_of, require_acknowledgement, require_queue_url
from app.sqs.message import Message
from app.sqs.queue import QueueAddress, refusal

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

ATTEMPTS = 2


class BlockingQueue:
    """One queue. Threads may share it: botocore's clients are thread-safe.

    https://boto3.amazonaws.com/v1/documentation/api/latest/guide/clients.html#multithreading-or-multiprocessing-with-clients
    """

    def __init__(self, client: "SQSClient", settings: Settings) -> None:
        self._client = client
        self._address = QueueAddress.of(settings)
        self.fifo = self._address.fifo
        self._url: str | None = None
        self._resolving = threading.Lock()

    def resolve(self) -> str:
        """The queue's URL, asked once (GetQueueUrl), then kept. Raises QueueUnavailable."""
        with self._resolving:
            if self._url is None:
                parameters: Any = self._address.parameters()
                try:
                    self._url = require_queue_url(self._client.get_queue_url(**parameters))
                except Exception as error:
                    raise refusal(code_of(error)) from error
            return self._url

    def send(self, message: Message) -> None:
        """Returns once SQS has acknowledged `message`.

        Raises QueueUnavailable (the message may have been enqueued all the same, if SQS's answer was lost) or
        InvalidEvent.
        """
        url = self._url or self.resolve()
        try:
            require_acknowledgement(self._client.send_message(QueueUrl=url, **message.parameters()))
        except Exception as error:
            raise refusal(code_of(error)) from error


def build_queue(settings: Settings) -> BlockingQueue:
    """A client of boto3's default session, and the queue behind it; no call is made yet.

    Ten pooled connections are botocore's default, as published: further ones are opened where threads need them, and
    closed after their call.
    APP_SQS_TIMEOUT can only be approximated: botocore's time-outs are per attempt, and separate for connect and read.
    """
    seconds = settings.sqs_timeout / ATTEMPTS
    config = Config(
        connect_timeout=seconds,
        read_timeout=seconds,
        max_pool_connections=settings.sqs_max_connections or MAX_POOL_CONNECTIONS,
        retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
    )
    return BlockingQueue(boto3.client("sqs", config=config), settings)
