"""Provides what the clients of SQS share: time-outs, retries, the record of a call, and the error of a failed call."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import botocore.session

from app.sqs.failures import code_of, rejected, retries_of, without_tracebacks
from app.sqs.queue import refusal
from app.telemetry.record import CANCELLED, CallRecord, ObserveCall


def client_options(attempts: int, *, connect: float, read: float, connections: int = 10) -> dict[str, Any]:
    """Returns the parameters of botocore's Config. `connect` and `read`: the time-outs of one attempt in seconds.

    `attempts`: the maximum number of attempts of a call. `connections`: the size of the connection pool.
    """
    return {
        "connect_timeout": connect,
        "read_timeout": read,
        "max_pool_connections": connections,
        "retries": {"mode": "standard", "total_max_attempts": attempts},
    }


def client_without_keys(session: botocore.session.Session) -> Any:
    """Returns a client of SQS from which the caller can read the configuration of `session`.

    The client cannot make calls, because it has dummy keys. With them, botocore does not look for credentials, whose
    source may fail now and work later. The function also sets up the sources of credentials in `session`. Otherwise,
    two threads might later set them up at the same time, which is not safe.
    """
    session.get_component("credential_provider")
    return session.create_client("sqs", aws_access_key_id="unused", aws_secret_access_key="unused")  # noqa: S106  # no secret


class Recorded:
    """Completes the record of a call when the `with` block ends, also after an error. `observe` gets the record.

    `attempts`: the maximum number of attempts of the call. After an error, the record keeps the code that the block has
    set. If the block has set none, the record gets the error's code.
    """

    def __init__(self, record: CallRecord, attempts: int, observe: ObserveCall) -> None:
        self._record, self._attempts, self._observe = record, attempts, observe

    def __enter__(self) -> CallRecord:
        return self._record

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        record = self._record
        if error is None:
            record.code = None
        elif isinstance(error, Exception) and record.code == CANCELLED:
            record.retries, record.code = retries_of(error, self._attempts), code_of(error)
        record.ended = perf_counter()
        self._observe(record)


@contextmanager
def refusing(record: CallRecord, attempts: int, observe: ObserveCall) -> Iterator[CallRecord]:
    """Completes the record of a call when the `with` block ends, as `Recorded` does.

    If the block raises an exception, raises the error for the response instead: InvalidEvent or QueueUnavailable.
    """
    try:
        with Recorded(record, attempts, observe):
            yield record
    except Exception as error:
        raise refusal(code_of(error), sent=record.sent and not rejected(error)) from without_tracebacks(error)
