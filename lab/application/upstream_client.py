"""The slow HTTP service (the upstream) that experiments call. A failed call raises LabUnavailable."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from json import JSONDecodeError
from typing import Any

import aiohttp
import httpx
import requests

from lab.application.lab_problems import LabUnavailable
from lab.lab_settings import LabSettings

_FAILURES = (
    *(httpx.HTTPError, httpx.InvalidURL, requests.RequestException, aiohttp.ClientError),
    *(TimeoutError, JSONDecodeError),
)


@dataclass(frozen=True)
class Upstream:
    """The upstream's URL (None if APP_LAB_UPSTREAM_URL is not set), and the time-out of a call in seconds.

    If a call is awaited, the time-out limits the whole call. In a blocking client, the time-out limits the wait for the
    connection, and then each wait for bytes.
    """

    url: str | None
    timeout: float

    def after(self, ms: int) -> str:
        """Returns the URL that answers after `ms` milliseconds. Raises LabUnavailable if there is no upstream."""
        if self.url is None:
            raise LabUnavailable(
                "APP_LAB_UPSTREAM_URL is not set: `python -m lab` starts an upstream,"
                " `python -m lab.stand_ins.upstream` one by itself"
            )
        return f"{self.url}/?ms={ms}"

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Raises LabUnavailable if a call inside the context fails."""
        try:
            yield
        except _FAILURES as error:
            reason = str(error) or type(error).__name__
            raise LabUnavailable(
                f"the upstream at {self.url} has not answered within {self.timeout:g} s (APP_LAB_UPSTREAM_TIMEOUT),"
                f" or not with 200: {reason}"
            ) from error


@asynccontextmanager
async def opened(settings: LabSettings) -> AsyncIterator[dict[str, Any]]:
    """Yields the `Upstream` of the settings, which handlers find as `request.state.upstream`."""
    url = settings.upstream_url
    yield {"upstream": Upstream(url.rstrip("/") if url else None, settings.upstream_timeout)}
