"""Sends webhooks with the Basic auth, headers and time-outs that Chargebee uses."""

from typing import NamedTuple
from urllib.parse import urlsplit

import aiohttp

from app import open_files
from app.errors import ConfigurationError
from app.settings import WebSettings
from app.settings.text import shown

# Chargebee's time-outs: 20 s for connecting, 20 s for each read, and 60 s in total.
TIMEOUT = aiohttp.ClientTimeout(total=60, connect=20, sock_read=20)
HEADERS = {"Content-Type": "application/json;charset=UTF-8", "User-Agent": "ChargeBee"}


class Reply(NamedTuple):
    """The status and the body of a response. Without a response, `status` is 0, and `text` is the reason."""

    status: int
    text: str


def open_session(
    url: str, settings: WebSettings, connections: int = 8, timeout: aiohttp.ClientTimeout = TIMEOUT
) -> aiohttp.ClientSession:
    """Opens a client for the service at `url`. The URL must have no path and no credentials.

    The client opens at most `connections` connections; 0 means no limit. Raises ConfigurationError if `url` is invalid.
    """
    password = settings.basic_auth_password
    user = (settings.basic_auth_username or "", password.get_secret_value()) if password else ("demo", "demo")
    try:
        # aiohttp accepts a base URL whose path ends with a slash, but sends each request without this path.
        if "@" in url or urlsplit(url).path not in ("", "/"):
            raise ValueError("credentials or a path in it")
        open_files.raise_limit()
        return aiohttp.ClientSession(
            url,
            headers=HEADERS | {"Authorization": aiohttp.encode_basic_auth(*user)},
            timeout=timeout,
            connector=aiohttp.TCPConnector(limit=connections),
        )
    except ValueError:
        raise ConfigurationError(
            f"--url {shown(url)}: allowed is a URL of scheme and host only, as in http://127.0.0.1:8000"
        ) from None


def open_prober(url: str) -> aiohttp.ClientSession:
    """Opens a client for health probes of the service at `url`.

    Like the kubelet, the client opens a new connection for each probe.
    """
    return aiohttp.ClientSession(url, timeout=TIMEOUT, connector=aiohttp.TCPConnector(force_close=True))


async def post(client: aiohttp.ClientSession, body: bytes) -> Reply:
    """Posts one webhook, and returns the response. Does not raise an error if there is no response; see `Reply`."""
    try:
        async with client.post("/webhooks/chargebee", data=body) as response:
            return Reply(response.status, await response.text())
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        return Reply(0, f"no answer: {str(error) or type(error).__name__}")
