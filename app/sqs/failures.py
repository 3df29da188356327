"""Checks the answers of botocore's clients, and reads error codes and numbers of retries from answers and errors."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from botocore.exceptions import ClientError, HTTPClientError, NoCredentialsError
from botocore.exceptions import ConnectionError as BotocoreConnectionError

from app.sqs.message import has_digest_of, has_message_id


class NotAcknowledgedError(Exception):
    """An answer with status 200 lacks what SQS or DynamoDB always sends, so perhaps a proxy sent the answer."""


def require_acknowledgement(answer: Mapping[str, Any], body: str, *, fifo: bool) -> None:
    """Raises NotAcknowledgedError unless the answer to SendMessage contains a MessageId and the MD5 of `body`.

    This check is needed because botocore accepts any 200. For a FIFO queue, the function does not compare the MD5: SQS
    may answer a repeated event with the MD5 of the first body.
    """
    if not (has_message_id(answer) and (fifo or has_digest_of(body, answer))):
        raise NotAcknowledgedError


def require_queue_url(answer: Mapping[str, Any]) -> str:
    """Returns the URL in an answer to GetQueueUrl. Raises NotAcknowledgedError if `answer` contains no URL."""
    url = answer.get("QueueUrl")
    if not isinstance(url, str) or not url:
        raise NotAcknowledgedError
    return url


def code_of(error: Exception) -> str:
    """Returns the error code from AWS in `error`, or the name of the exception's class if `error` contains no code.

    `error` may be any exception: if an answer is not from AWS, botocore raises TypeError, KeyError and others.
    """
    if not isinstance(error, ClientError):
        return type(error).__name__
    return str(error.response.get("Error", {}).get("Code") or type(error).__name__)


def rejected(error: Exception) -> bool:
    """Returns True if SQS has certainly accepted no message of the call that failed with `error`.

    After a retry, the function returns False, because SQS may have accepted the messages of the first attempt.
    """
    if not isinstance(error, ClientError):
        return isinstance(error, NoCredentialsError)
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR and retries_of(error, 1) == 0


def retries_of(found: Mapping[str, Any] | Exception, attempts: int) -> int:
    """Returns the number of retries that botocore made for a call. `found`: the answer or error of the last attempt.

    `attempts`: the maximum number of attempts. If the last attempt got no answer, the number of retries is unknown. The
    function then returns `attempts - 1`, although botocore makes fewer retries when its retry quota is used up. For an
    error that is not botocore's, such as TimeoutError, the function returns 0.
    """
    if isinstance(found, HTTPClientError | BotocoreConnectionError):
        return attempts - 1
    answer = found.response if isinstance(found, ClientError) else found
    metadata = answer.get("ResponseMetadata") if isinstance(answer, Mapping) else None
    return int(metadata.get("RetryAttempts", 0)) if isinstance(metadata, Mapping) else 0


def without_tracebacks(error: Exception) -> Exception:
    """Removes the tracebacks of `error` and of the errors that caused it, and returns `error`.

    In botocore and aiohttp, a frame in an error's traceback may refer to the error itself. This reference cycle would
    keep all frames of the call, including the messages, in memory until the garbage collector runs.
    """
    link: BaseException | None = error
    while link is not None:
        link.with_traceback(None)
        link = link.__cause__ or link.__context__
    return error


def free_attempt(caught_exception: Exception | None = None, **_: object) -> None:
    """Removes the traceback of a failed attempt's error, before an aioboto3 client retries the call.

    Otherwise, a reference cycle would keep all frames of the call in memory. In Python 3.13, the cycle is: the error →
    its traceback → the frames of the attempt → the other frames of the call → the error. The caller cannot pass this
    error to `without_tracebacks`, because the call does not raise this error: after a retry, the call succeeds or
    raises another error. Therefore, `open_client` registers this function for the event `needs-retry`, which botocore
    emits before each retry:
    https://botocore.amazonaws.com/v1/documentation/api/latest/topics/events.html
    """
    if caught_exception is not None:
        without_tracebacks(caught_exception)
