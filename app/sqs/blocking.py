"""Sends messages with boto3. `send` blocks the calling thread until SQS answers."""

import threading
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError
from loguru import logger

from app.errors import QueueUnavailable
from app.sqs.failures import code_of, require_acknowledgement, require_queue_url, retries_of, without_tracebacks
from app.sqs.message import Message, traceparents
from app.sqs.queue import QueueAddress, SendLimits, refusal
from app.sqs.sdk_calls import client_options, refusing
from app.telemetry.record import CallRecord, ObserveCall, unobserved

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

ATTEMPTS = 2


class BlockingQueue:
    """A queue in SQS. Threads may share the object, because botocore's clients are thread-safe.

    https://boto3.amazonaws.com/v1/documentation/api/latest/guide/clients.html#multithreading-or-multiprocessing-with-clients
    """

    def __init__(self, client: "SQSClient", address: QueueAddress, observe: ObserveCall) -> None:
        self._client = client
        self._observe = observe
        self._address = address
        self.fifo = address.fifo
        self._url: str | None = None
        self._resolving = threading.Lock()

    @staticmethod
    def warm(address: QueueAddress, limits: SendLimits) -> None:
        """Builds a client and discards it, so that botocore caches SQS's API model before the first webhook.

        If the source of the credentials fails, only logs a warning, because the source may work again later.
        """
        try:
            build_queue(address, limits)
        except QueueUnavailable as error:
            logger.warning("Cannot build a client of SQS yet: {}", error.cause)

    def resolve(self) -> str:
        """Returns the queue's URL. Calls GetQueueUrl unless an earlier call succeeded. Raises QueueUnavailable."""
        with self._resolving:
            if self._url is None:
                parameters: Any = self._address.parameters()
                with refusing(CallRecord("GetQueueUrl"), ATTEMPTS, self._observe) as record:
                    answer = self._client.get_queue_url(**parameters)
                    record.retries = retries_of(answer, ATTEMPTS)
                    self._url = require_queue_url(answer)
            return self._url

    def send(self, message: Message) -> None:
        """Returns when SQS has acknowledged `message`.

        Raises InvalidEvent if SQS rejects a character of the body, and QueueUnavailable after any other failure. If
        SQS's answer was lost, the message may have been enqueued nevertheless.
        """
        url = self._url or self.resolve()
        record = CallRecord("SendMessage", 1, message.size, traceparents=traceparents([message]))
        with refusing(record, ATTEMPTS, self._observe):
            record.sent = True
            answer = self._client.send_message(QueueUrl=url, **message.parameters())
            record.retries = retries_of(answer, ATTEMPTS)
            require_acknowledgement(answer, message.body, fifo=self.fifo)


def build_queue(address: QueueAddress, limits: SendLimits, observe: ObserveCall = unobserved) -> BlockingQueue:
    """Returns the queue with a client of boto3's default session. Makes no call to SQS.

    botocore keeps up to `limits.connections` connections open. If more threads need one at the same time, botocore
    opens further connections, and closes them after use. The default of `limits.connections` is ten, as in botocore.
    The published service presumably used botocore's default (CHANGELOG.md, Sources).

    `observe` receives the record of each call, in the thread that made the call.

    A call may take longer than `limits.deadline`, because botocore limits only the time of each connect and each read.

    Raises QueueUnavailable if the source of the credentials fails.
    """
    attempt_timeout = limits.deadline / ATTEMPTS
    options = client_options(ATTEMPTS, connect=attempt_timeout, read=attempt_timeout, connections=limits.connections)
    try:
        client = boto3.client("sqs", config=Config(**options))
    except (BotoCoreError, ValueError, OSError) as error:
        raise refusal(code_of(error), sent=False) from without_tracebacks(error)
    return BlockingQueue(client, address, observe)
