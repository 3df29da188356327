"""Parses SQS's responses for the lean client. An SqsError shows whether a retry may succeed."""

import time
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

import orjson

from app.sqs.failures import NotAcknowledgedError
from app.sqs.sqs_connection import HttpResponse

# The error codes and the statuses that botocore's standard mode retries:
# https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html
_AGAIN = {
    *("RequestTimeout", "RequestTimeoutException", "PriorRequestNotComplete", "TransactionInProgressException"),
    *("Throttling", "ThrottlingException", "ThrottledException", "RequestThrottled", "RequestThrottledException"),
    *("TooManyRequestsException", "ProvisionedThroughputExceededException", "RequestLimitExceeded", "SlowDown"),
    *("BandwidthLimitExceeded", "LimitExceededException", "EC2ThrottledException"),
}
_AGAIN_STATUSES = {500, 502, 503, 504}
# SQS's error codes for a wrong time in the signature (_SKEWED), and for expired credentials (_EXPIRED).
_SKEWED = {"RequestExpired", "RequestTimeTooSkewed", "SignatureDoesNotMatch", "InvalidSignatureException"}
_EXPIRED = {"ExpiredToken", "ExpiredTokenException", "InvalidClientTokenId", "UnrecognizedClientException"}


class SqsError(Exception):
    """SQS answered with a status other than 200. `code` is SQS's error code.

    `transient`: the same call may succeed later. `rejected`: SQS has certainly accepted no message of the call.
    `expired`: SQS rejects the credentials, and the reason may be that they have expired.
    """

    def __init__(self, response: HttpResponse) -> None:
        self.code = _code(response)
        super().__init__(self.code)
        plain = self.code.rpartition(".")[2]  # the code without the prefix `AWS.SimpleQueueService.`
        self.transient = response.status in _AGAIN_STATUSES or plain in _AGAIN
        self.rejected = HTTPStatus.BAD_REQUEST <= response.status < HTTPStatus.INTERNAL_SERVER_ERROR
        self.expired = plain in _EXPIRED
        self._skewed_at = response.headers.get(b"date") if plain in _SKEWED else None

    @property
    def clock_offset(self) -> float | None:
        """SQS's time minus this machine's time, in seconds.

        None if a wrong time in the signature cannot cause this error, or if the response has no valid Date header.
        """
        if self._skewed_at is None:
            return None
        try:
            return parsedate_to_datetime(self._skewed_at.decode("ascii", "replace")).timestamp() - time.time()
        except (ValueError, OverflowError):  # the header is no date, or the date is out of range
            return None


def parsed(response: HttpResponse) -> dict[str, Any]:
    """Returns the JSON object in the body of a response with status 200. Raises SqsError after any other status.

    Raises NotAcknowledgedError if the status is 200, but the body is not a JSON object.
    """
    if response.status != HTTPStatus.OK:
        raise SqsError(response)
    try:
        body = orjson.loads(response.body)
    except orjson.JSONDecodeError:
        body = None
    if not isinstance(body, dict):
        raise NotAcknowledgedError
    return body


def _code(response: HttpResponse) -> str:
    """Returns the error code in `response`. Prefers the code of SQS's older query protocol, as botocore does."""
    if (compatible := response.headers.get(b"x-amzn-query-error")) is not None:
        return compatible.partition(b";")[0].decode("ascii", "replace")
    try:
        return str(orjson.loads(response.body)["__type"]).rpartition("#")[2]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return f"Http{response.status}"
