"""Translates botocore's answers and errors into the terms of `queue.py`."""

from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError, HTTPClientError

from app.sqs.message import has_digest_of, has_message_id


class NotAcknowledgedError(Exception):
    """A 200 that acknowledges another message or none, as from a proxy or an endpoint that is not SQS."""


def require_acknowledgement(answer: Mapping[str, Any], body: str, *, fifo: bool) -> None:
    """Raises NotAcknowledgedError unless `answer` (of SendMessage) has a MessageId, and the MD5 of `body`.

    On a FIFO queue the MD5 is not compared: for an event that is sent again, SQS may answer with the MD5 of its first
    body. botocore parses the body of any 200 into a dictionary, and does not check its members.
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

    It may be any exception: for a response that is not SQS's, botocore raises TypeError, KeyError and more.
    """
    if not isinstance(error, ClientError):
        return type(error).__name__
    return str(error.response.get("Error", {}).get("Code") or type(error).__name__)


def retries_of(found: Mapping[str, Any] | Exception, attempts: int) -> int:
    """Returns how often botocore repeated the call that ended with an answer or an exception.

    An exception without an answer does not contain that number: then all `attempts` were made.
    """
    if isinstance(found, HTTPClientError):
        return attempts - 1
    answer = found.response if isinstance(found, ClientError) else found
    metadata = answer.get("ResponseMetadata") if isinstance(answer, Mapping) else None
    return int(metadata.get("RetryAttempts", 0)) if isinstance(metadata, Mapping) else 0


def without_tracebacks(error: Exception) -> Exception:
    """Returns `error` after removing the tracebacks of `error` and of the errors that caused it.

    botocore and aiohttp raise errors that a frame of their traceback refers to. Such a cycle would keep the frames of
    the whole call, and so its messages, until the garbage collector runs.
    """
    link: BaseException | None = error
    while link is not None:
        link.with_traceback(None)
        link = link.__cause__ or link.__context__
    return error


def free_attempts(client: Any) -> None:
    """Removes the tracebacks of the errors after which `client`, of aioboto3, repeats a call.

    In Python 3.13, the frame of a finished coroutine still refers to its caller's. So the error of each attempt is in a
    cycle with the frames of the whole call, which `without_tracebacks` cannot reach. `needs-retry` is botocore's event:
    https://botocore.amazonaws.com/v1/documentation/api/latest/topics/events.html
    """
    client.meta.events.register("needs-retry", _free_attempt)


def _free_attempt(caught_exception: Exception | None = None, **_: object) -> None:
    if caught_exception is not None:
        without_tracebacks(caught_exception)
