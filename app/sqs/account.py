"""Reads the AWS SDK's region, endpoint, proxy, CA bundle and credentials, and renews the credentials.

botocore reads the configuration from the environment, from files, and from the metadata services of EC2, ECS and EKS
(IRSA, Pod Identity). Reading these sources blocks, so the lean client (`lean.py`) reads them in separate threads.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import NoReturn, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies

import botocore.session
from botocore.exceptions import CredentialRetrievalError, NoCredentialsError
from botocore.utils import get_environ_proxies

from app.errors import ConfigurationError
from app.sqs.authorities import verifying_context
from app.sqs.sdk_calls import client_without_keys
from app.sqs.signing import Credentials, is_sendable

# `Account.renew` asks botocore for credentials at this interval. botocore renews those that expire within 15 minutes.
RENEW_SECONDS = 60.0
Result = TypeVar("Result")


def proxy_of(url: str) -> str | None:
    """Returns the URL of the proxy for calls to `url`, or None. The AWS SDK uses the same proxy for its own calls.

    Raises ConfigurationError if the proxy's environment variable, such as HTTPS_PROXY, is not the URL of an HTTP proxy.
    """
    scheme = urlsplit(url).scheme
    given = get_environ_proxies(url).get(scheme)
    if given is None:
        return None
    proxy: str = given if "://" in given else f"http://{given.removeprefix('//')}"
    try:
        parts = urlsplit(proxy)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # the port is not a number
        usable = False
    if not usable:
        raise ConfigurationError(f"{scheme.upper()}_PROXY: allowed is the URL of an HTTP proxy, as in http://host:3128")
    return proxy


def require_direct() -> None:
    """Raises ConfigurationError if calls to SQS use a proxy, because the lean client does not support proxies."""
    if getproxies():  # without a proxy, there is no need to build an Account, which takes time
        Account()


class Account:
    """The AWS SDK's configuration for calls to SQS. `endpoint`: SQS's URL, split into its parts.

    `tls`: the TLS context, or None if the endpoint uses plain HTTP. `current`: the credentials for signatures, or None
    until `find` has succeeded.
    """

    def __init__(self) -> None:
        """Reads the configuration except the credentials. Raises ConfigurationError if calls to SQS use a proxy."""
        self._session = botocore.session.Session()
        client = client_without_keys(self._session)
        url = client.meta.endpoint_url
        self.endpoint = urlsplit(url)
        self.region: str = client.meta.region_name
        self.tls = verifying_context(self._session) if self.endpoint.scheme == "https" else None
        if proxy_of(url) is not None:
            raise ConfigurationError(
                f"{url} is behind a proxy ({self.endpoint.scheme.upper()}_PROXY), which this release does not support:"
                " exclude the host with NO_PROXY, or set APP_RELEASE=v09_group_commit"
            )
        self.current: Credentials | None = None
        self._finding: asyncio.Future[Credentials] | None = None

    def credentials(self) -> Credentials:
        """Returns the credentials. If they expire soon, renews them first. Raises botocore's errors."""
        found = self._session.get_credentials()
        if found is None:
            raise NoCredentialsError
        frozen = found.get_frozen_credentials()
        credentials = Credentials(str(frozen.access_key), str(frozen.secret_key), frozen.token)
        if not all(is_sendable(part) for part in credentials if part is not None):
            raise CredentialRetrievalError(provider=found.method, error_msg="a key contains white space")
        return credentials

    async def find(self) -> None:
        """Asks botocore, in a thread, for the credentials, and stores them in `current`. Raises botocore's errors.

        While one call waits for the answer, further calls wait for the same answer instead of starting more threads.
        Otherwise, threads would pile up if a service such as STS does not answer for minutes. If all callers are
        cancelled, this method drops the answer, but botocore keeps the credentials for the next call.
        """
        if self._finding is None or self._finding.done():
            self._finding = in_background(self.credentials)
            # Retrieves the exception, if any. Otherwise, asyncio would log it as never retrieved if no caller waits.
            self._finding.add_done_callback(lambda future: future.cancelled() or future.exception())
        self.current = await asyncio.shield(self._finding)

    async def renew(self) -> NoReturn:
        """Renews the credentials before they expire, so that no webhook waits for new ones."""
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            with suppress(Exception):  # if this fails, the client calls `find` when SQS rejects the credentials
                await self.find()


def in_background(call: Callable[[], Result]) -> "asyncio.Future[Result]":
    """Runs `call` in a new daemon thread. The future gets the result of `call`, or its exception.

    The process can end while the thread still runs. With `asyncio.to_thread`, the event loop could not close before the
    end of the thread, which may take until botocore times out.
    """
    future: Future[Result] = Future()
    future.set_running_or_notify_cancel()  # makes the future impossible to cancel, so that `_run` can set its result
    threading.Thread(target=_run, args=[call, future], daemon=True).start()
    return asyncio.wrap_future(future)


def _run(call: Callable[[], Result], future: Future[Result]) -> None:
    try:
        future.set_result(call())
    except Exception as error:
        future.set_exception(error)
    finally:
        del future  # breaks a reference cycle: future → its exception → the traceback → this frame → future
