"""Translates botocore's answers and errors into the terms of `queue.py`."""

from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError, HTTPClientError

from app.sqs.message import has_digest_of, has_message_id


class NotAcknowledgedError(Exception):
    """A 200 does not acknowledge the message, for example because a proxy or a server other than SQS sent it."""


def require_acknowledgement(answer: Mapping[str, Any], body: str, *, fifo: bool) -> None:
    """Raises NotAcknowledgedError unless `answer` (of SendMessage) has a MessageId, and the MD5 of `body`.

    On a FIFO queue, the MD5 is not compared: if an event is sent again, SQS may answer with the MD5 of the first body.
    botocore parses the body of any 200 into a dictionary, and does not check the members.
    """
    if not (has_message_id(answer) and (fifo or has_digest_of(body, answer))):
        raise NotAcknowledgedError


def require_queue_url(answer: Mapping[str, Any]) -> str:
    """Returns the URL in an answer of GetQueueUrl. Raises NotAcknowledgedError."""
    url = answer.get("QueueUrl")
    if not isinstance(url, str) or not url:
        raise NotAcknowledgedError
    return url


def code_of(error: Exception) -> str:
    """Returns SQS's error code, or the name of the exception that the client raised.

    `error` may be any exception: if a response is not SQS's, botocore raises TypeError, KeyError and others.
    """
    if not isinstance(error, ClientError):
        return type(error).__name__
    return str(error.response.get("Error", {}).get("Code") or type(error).__name__)


def retries_of(found: Mapping[str, Any] | Exception, attempts: int) -> int:
    """Returns how often botocore repeated a call. `found`: the answer or the exception that ended the call.

    An HTTPClientError does not contain this number, but botocore raises it only after the last of `attempts`.
    """
    if isinstance(found, HTTPClientError):
        return attempts - 1
    answer = found.response if isinstance(found, ClientError) else found
    metadata = answer.get("ResponseMetadata") if isinstance(answer, Mapping) else None
    return int(metadata.get("RetryAttempts", 0)) if isinstance(metadata, Mapping) else 0


def without_tracebacks(error: Exception) -> Exception:
    """Returns `error` after removing the tracebacks of `error` and of the errors that caused it.

    botocore and aiohttp raise errors to which a frame of the error's own traceback refers. Such a reference cycle would
    keep the frames of the whole call, and so the call's messages, in memory until the garbage collector runs.
    """
    link: BaseException | None = error
    while link is not None:
        link.with_traceback(None)
        link = link.__cause__ or link.__context__
    return error


def free_attempts(client: Any) -> None:
    """Makes `client` (of aioboto3) remove the traceback of each error after which it repeats a call.

    In Python 3.13, the frame of a finished coroutine still refers to the frame of its caller. So the error of each
    attempt is in a reference cycle with the frames of the whole call, and `without_tracebacks` cannot reach this error.
    `needs-retry` is an event of botocore:
    https://botocore.amazonaws.com/v1/documentation/api/latest/topics/events.html
    """
    client.meta.events.register("needs-retry", _free_attempt)


def _free_attempt(caught_exception: Exception | None = None, **_: object) -> None:
    if caught_exception is not None:
        without_tracebacks(caught_exception)
