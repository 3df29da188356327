"""The blocking client: boto3. `send` blocks the calling thread until SQS answers."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.endpoint import MAX_POOL_CONNECTIONS

from app.settings import Settings
from app.sqs.failures import code_of, require_acknowledgement, require_queue_url, retries_of, without_tracebacks
from app.sqs.message import Message, traceparents
from app.sqs.queue import QueueAddress, refusal
from app.telemetry.record import CallRecord, ObserveCall, unobserved

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

ATTEMPTS = 2


class BlockingQueue:
    """One queue. Threads may share it: botocore's clients are thread-safe.

    https://boto3.amazonaws.com/v1/documentation/api/latest/guide/clients.html#multithreading-or-multiprocessing-with-clients
    """

    def __init__(self, client: "SQSClient", settings: Settings, observe: ObserveCall) -> None:
        self._client = client
        self._observe = observe
        self._address = QueueAddress.of(settings)
        self.fifo = self._address.fifo
        self._url: str | None = None
        self._resolving = threading.Lock()

    def resolve(self) -> str:
        """The queue's URL, asked once (GetQueueUrl), then kept. Raises QueueUnavailable."""
        with self._resolving:
            if self._url is None:
                parameters: Any = self._address.parameters()
                with self._observed(CallRecord("GetQueueUrl")) as record:
                    answer = self._client.get_queue_url(**parameters)
                    record.retries = retries_of(answer, ATTEMPTS)
                    self._url = require_queue_url(answer)
            return self._url

    def send(self, message: Message) -> None:
        """Returns once SQS has acknowledged `message`.

        Raises QueueUnavailable (the message may have been enqueued all the same, if SQS's answer was lost) or
        InvalidEvent.
        """
        url = self._url or self.resolve()
        with self._observed(CallRecord("SendMessage", 1, message.size, traceparents=traceparents([message]))) as record:
            answer = self._client.send_message(QueueUrl=url, **message.parameters())
            record.retries = retries_of(answer, ATTEMPTS)
            require_acknowledgement(answer, message.body, fifo=self.fifo)

    @contextmanager
    def _observed(self, record: CallRecord) -> Iterator[CallRecord]:
        """Around one call: turns what it raises into our errors, and completes its record."""
        try:
            yield record
            record.code = None
        except Exception as error:
            record.retries, record.code = retries_of(error, ATTEMPTS), code_of(error)
            raise refusal(record.code) from without_tracebacks(error)
        finally:
            record.ended = perf_counter()
            self._observe(record)


def build_queue(settings: Settings, observe: ObserveCall = unobserved) -> BlockingQueue:
    """A client of boto3's default session, and the queue behind it; no call is made yet.

    Ten pooled connections are botocore's default, as published: further ones are opened where threads need them, and
    closed after their call. `observe` is told of each call, in the thread that made it.
    APP_SQS_TIMEOUT can only be approximated: botocore's time-outs are per attempt, and separate for connect and read.
    """
    seconds = settings.sqs_timeout / ATTEMPTS
    config = Config(
        connect_timeout=seconds,
        read_timeout=seconds,
        max_pool_connections=settings.sqs_max_connections or MAX_POOL_CONNECTIONS,
        retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
    )
    return BlockingQueue(boto3.client("sqs", config=config), settings, observe)
