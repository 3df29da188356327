"""What SQS answers to the lean client: the parsed body of a 200, or an error and what it calls for."""

import time
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

import orjson

from app.sqs.connection import Answer
from app.sqs.failures import NotAcknowledgedError

# As botocore's standard mode: https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html
_AGAIN = {"RequestThrottled", "Throttling", "ThrottlingException", "TooManyRequestsException", "RequestLimitExceeded"}
_SKEWED = {"RequestExpired", "RequestTimeTooSkewed", "SignatureDoesNotMatch", "InvalidSignatureException"}
_EXPIRED = {"ExpiredToken", "ExpiredTokenException", "InvalidClientTokenId", "UnrecognizedClientException"}


class SqsError(Exception):
    """An answer that is not 200. `code`: SQS's error code."""

    def __init__(self, answer: Answer) -> None:
        self.code = _code(answer)
        super().__init__(self.code)
        self._status, self._date = answer.status, answer.headers.get(b"date")
        self._plain = self.code.rpartition(".")[2]  # of AWS.SimpleQueueService.…

    @property
    def transient(self) -> bool:
        """The same call may succeed later."""
        return self._status >= HTTPStatus.INTERNAL_SERVER_ERROR or self._plain in _AGAIN

    @property
    def expired(self) -> bool:
        """The credentials have."""
        return self._plain in _EXPIRED

    @property
    def clock_offset(self) -> float | None:
        """SQS's time minus ours, in seconds, where the signature's time can be the cause."""
        if self._plain not in _SKEWED or self._date is None:
            return None
        try:
            return parsedate_to_datetime(self._date.decode("ascii", "replace")).timestamp() - time.time()
        except (ValueError, OverflowError):  # no date, or numbers that are too long for one
            return None


def parsed(answer: Answer) -> dict[str, Any]:
    """The body of a 200. Raises SqsError, and NotAcknowledgedError where it is no JSON object."""
    if answer.status != HTTPStatus.OK:
        raise SqsError(answer)
    try:
        body = orjson.loads(answer.body)
    except orjson.JSONDecodeError:
        body = None
    if not isinstance(body, dict):
        raise NotAcknowledgedError
    return body


def _code(answer: Answer) -> str:
    """As botocore reads it: the older protocol's code, where the answer has it."""
    if (compatible := answer.headers.get(b"x-amzn-query-error")) is not None:
        return compatible.partition(b";")[0].decode("ascii", "replace")
    try:
        return str(orjson.loads(answer.body)["__type"]).rpartition("#")[2]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return f"Http{answer.status}"
